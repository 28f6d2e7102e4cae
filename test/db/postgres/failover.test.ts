import { expect } from 'bun:test'
import { postgresMigrations } from '../../../db/migrations/postgres.ts'
import { migratePostgres } from '../../../db/postgres/commands.ts'
import { askPostgres } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { type Cluster, startPair } from '../../support/postgres.ts'
import { openStore } from './support.ts'

const { afterAll, beforeAll, test } = needs('postgres')

let pair: { readonly primary: Cluster; readonly standby: Cluster; readonly url: string }
beforeAll(async () => {
  pair = await startPair()
  await migratePostgres(pair.url, postgresMigrations)
})
afterAll(() => {
  pair.primary.stop()
  pair.standby.stop()
})

const ticketOf = (index: number) => String(index).padStart(22, '0')

test('what was acknowledged is there after a failover, nothing twice, and the deposed primary is not read', async () => {
  const nodes = [await openStore(pair.url, 'server'), await openStore(pair.url, 'server')] as const
  const acknowledged: { readonly index: number; readonly at: number }[] = []
  const twice: number[] = []
  let next = 0
  const ending = new AbortController()
  const write = async (node: (typeof nodes)[number]) => {
    while (!ending.signal.aborted) {
      const index = (next += 1)
      try {
        const isFirst = await node.transaction(async (q) => await q.formTickets.spend(ticketOf(index), index), {
          kind: 'guarded',
        })
        if (isFirst) acknowledged.push({ index, at: performance.now() })
        else twice.push(index)
      } catch (error) {
        expect(error).toMatchObject({ code: 'unavailable' })
        await Bun.sleep(10)
      }
    }
  }
  const refusedAt: number[] = []
  const read = async (node: (typeof nodes)[number]) => {
    while (!ending.signal.aborted) {
      try {
        await node.queries.users.byId('x')
      } catch (error) {
        expect(error).toMatchObject({ code: 'unavailable' })
        refusedAt.push(performance.now())
      }
      await Bun.sleep(20)
    }
  }
  const running = nodes.flatMap((node) => [write(node), write(node), read(node)])
  await Bun.sleep(1_500)
  const before = acknowledged.length
  // The primary goes on, and is asked first; its standby follows it no more.
  const promotedAt = performance.now()
  pair.standby.promote()
  while (acknowledged.every(({ at }) => at < promotedAt + 2_500)) await Bun.sleep(50)
  await Bun.sleep(1_000)
  ending.abort()
  await Promise.all(running)

  expect(before).toBeGreaterThan(50)
  const first = acknowledged.find(({ at }) => at > promotedAt + 500)
  expect((first?.at ?? 0) - promotedAt).toBeGreaterThan(2_900)
  expect(refusedAt.length).toBeGreaterThan(0)
  expect(twice).toEqual([])
  const kept = new Set(
    (await askPostgres<{ key: string }>(pair.standby.url('apps'), 'SELECT key FROM form_tickets', [])).map(
      ({ key }) => key,
    ),
  )
  expect(acknowledged.filter(({ index }) => !kept.has(ticketOf(index)))).toEqual([])
  for (const node of nodes) await node.close()
}, 60_000)
