import { expect, setDefaultTimeout } from 'bun:test'
import { postgresMigrations } from '../../../db/migrations/index.ts'
import { migratePostgres } from '../../../db/postgres/commands.ts'
import { askPostgres } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/nodes.ts'
import { patience } from '../../support/proof.ts'
import { startPair } from '../../support/postgres.ts'
import { openStore } from './support.ts'

const { test } = needs('postgres')

setDefaultTimeout(patience)

type Pair = Awaited<ReturnType<typeof startPair>>

/** A test on a primary and its synchronous standby, with all tables. */
const onPair = (rule: string, work: (pair: Pair) => Promise<void>): void =>
  test(rule, async () => {
    const pair = await startPair()
    try {
      await migratePostgres(pair.url, postgresMigrations)
      await work(pair)
    } finally {
      pair.primary.stop()
      pair.standby.stop()
    }
  })

const ticketOf = (index: number) => String(index).padStart(22, '0')
const guarded = { kind: 'guarded' } as const

onPair(
  'what was acknowledged is there after a failover, nothing twice, and the deposed primary is not read',
  async (pair) => {
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
    await until(async () => (acknowledged.length > 50 ? true : null))
    // The primary goes on, and is asked first; its standby follows it no more.
    const promotedAt = performance.now()
    pair.standby.promote()
    while (acknowledged.every(({ at }) => at < promotedAt + 2_500)) await Bun.sleep(50)
    await Bun.sleep(1_000)
    ending.abort()
    await Promise.all(running)

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
  },
)

onPair(
  'what a primary shows after a crash is acknowledged to nobody before its standby has it',
  async ({ primary, standby, url }) => {
    const store = await openStore(url, 'server')
    const spend = async (index: number) =>
      await store
        .transaction(async (q) => await q.formTickets.spend(ticketOf(index), 1), guarded)
        .catch((error: { code?: string }) => error.code)
    const inUrl = primary.url('apps')
    const count = async (text: string) =>
      await askPostgres<{ count: number }>(inUrl, text, []).then(
        ([row]) => row?.count,
        () => null, // it is starting
      )
    expect(await spend(0)).toBe(true)
    standby.signal('SIGSTOP')
    const first = spend(1)
    const waiting =
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'"
    await until(async () => ((await count(waiting)) === 1 ? true : null))
    primary.signal('SIGKILL', 'backends')
    await until(async () => ((await count('SELECT count(*)::int AS count FROM form_tickets')) === 2 ? true : null))

    expect(await Promise.all([first, spend(1)])).toEqual(['unavailable', 'unavailable'])
    await store.close()
  },
)

onPair(
  'while commits are not confirmed, a transaction that changes nothing answers no more than a read does',
  async ({ standby, url }) => {
    const store = await openStore(url, 'server')
    const changesNothing = {
      'reads only': async () => await store.transaction(async (q) => await q.credentials.find('crd_x'), guarded),
      'finds nothing to change': async () =>
        await store.transaction(async (q) => await q.formTickets.spend(ticketOf(0), 0), guarded),
      'has one change, of a row that is not there': async () =>
        await store.transaction(async (q) => {
          await q.credentials.find('crd_x')
          await q.sessions.use('x', 1, 1, null)
        }, guarded),
    }
    const answers = async () =>
      await Promise.all(Object.values(changesNothing).map(async (run) => await run().catch(({ code }) => code)))
    await store.transaction(async (q) => await q.formTickets.spend(ticketOf(0), 0), guarded)
    expect(await answers()).toEqual([null, false, undefined])
    standby.signal('SIGSTOP')
    await until(async () => (store.health().problem === 'unreachable' ? true : null))
    expect(await answers()).toEqual(['unavailable', 'unavailable', 'unavailable'])
    standby.signal('SIGCONT')
    await store.close()
  },
)

onPair(
  'a start without the standby says so, not one that waits for another session; where only standbys are, there is no primary',
  async ({ primary, standby, url }) => {
    const holder = new Bun.SQL(primary.url('apps'), { max: 1 })
    await holder.begin(async (sql) => {
      await sql`LOCK TABLE timelines IN ACCESS EXCLUSIVE MODE`
      await expect(openStore(primary.url('apps'), 'server')).rejects.toThrow('does not answer in time')
    })
    await holder.close()
    await expect(openStore(standby.url('apps'))).rejects.toThrow('None of the hosts in DATABASE_URL')
    await standby.kill()
    await expect(openStore(url, 'server')).rejects.toThrow('its synchronous standby does not answer: start the standby')
  },
)
