import { expect } from 'bun:test'
import type { Database } from '../../../db/database.ts'
import type { Environment } from '../../../src/domain/app.ts'
import { createCredential } from '../../../src/operations/credentials/credentials.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { addEndpoint } from '../../../src/operations/webhooks/endpoints.ts'
import { deliverNext, listAttempts } from '../../../src/operations/webhooks/deliveries.ts'
import { auditEvents } from '../../support/audit-events.ts'
import { askPostgres } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { openAsOperator, operator, trace } from '../../support/operator.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { addApp, addUser } from '../../support/world.ts'
import { openStore } from './support.ts'

const { test } = needs('postgres')

/** Puts an event, and commits when it is told to. */
const putting = (store: Database, appId: string, environment: Environment, id: string) => {
  const position = Promise.withResolvers<number>()
  const commit = Promise.withResolvers<void>()
  const done = store.transaction(
    async (q) => {
      const event = { id, appId, environment, kind: 'credential.created', data: {} } as const
      position.resolve(await q.webhookEvents.put(event, 1))
      await commit.promise
    },
    { kind: 'guarded' },
  )
  return { position: position.promise, commit: commit.resolve, done }
}

test('events of one app in one environment get positions in the order of their commits, and no other app waits for them', async () => {
  const url = await postgresDatabase('outbox')
  const platform = await openAsOperator(url)
  const owner = await addUser(platform)
  const [app, other] = [await addApp(platform, owner), await addApp(platform, owner)]
  const stores = [await openStore(url), await openStore(url)] as const

  const first = putting(stores[0], app.id, 'production', 'evt_1')
  const firstPosition = await first.position
  const second = putting(stores[1], app.id, 'production', 'evt_2')
  let isSecondPut = false
  void second.position.then(() => (isSecondPut = true))
  const others = [
    putting(stores[1], app.id, 'development', 'evt_3'),
    putting(stores[1], other.id, 'production', 'evt_4'),
  ]
  for (const { commit, done } of others) {
    commit()
    await done
  }
  expect(isSecondPut).toBe(false)
  first.commit()
  await first.done
  second.commit()
  await second.done
  expect(await second.position).toBeGreaterThan(firstPosition)
  expect(new Set(await Promise.all([first, second, ...others].map(async ({ position }) => await position))).size).toBe(
    4,
  )

  for (const store of [...stores, platform.database]) await store.close()
})

/** A platform whose receivers answer this, once all that are called have been called. */
const answering = (platform: Platform, status: number, arrived: () => Promise<unknown> = async () => undefined) => ({
  ...platform,
  webhooks: {
    ...platform.webhooks,
    check: async () => null,
    send: async () => {
      await arrived()
      return { status, error: null, retryAfter: null, headers: {}, answer: '', durationMs: 1 }
    },
  },
})
const deliver = async (platform: Platform, id: string) =>
  await deliverNext(platform, trace, id, new AbortController().signal)

/** An endpoint with one event that is due. */
const withDueEvent = async (platform: Platform) => {
  const { slug } = await addApp(platform, await addUser(platform))
  const place = { slug, environment: 'development' } as const
  const endpoint = { ...place, url: 'https://hooks.example/', kinds: ['credential.created'] }
  const { id } = await addEndpoint(platform, trace, operator, endpoint)
  await createCredential(platform, trace, operator, { ...place, label: null })
  return id
}

test('the result of a call is recorded while a serial transaction is under way', async () => {
  const url = await postgresDatabase('recorded-beside')
  const platform = answering(await openAsOperator(url), 200)
  const id = await withDueEvent(platform)
  const end = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const serial = platform.database.transaction(async (q) => {
    await q.watermarks.find('clock')
    begun.resolve()
    await end.promise
  })
  await begun.promise
  expect(await deliver(platform, id)).toMatchObject({ kind: 'sent' })
  end.resolve()
  await serial
  await platform.database.close()
})

test('an endpoint that tells two servers at once that it is gone is disabled once', async () => {
  const url = await postgresDatabase('gone-twice')
  const [one, other] = [await openAsOperator(url), await openAsOperator(url)]
  const ids: string[] = []
  for (let round = 0; round < 10; round += 1) {
    const id = await withDueEvent(answering(one, 410))
    const calls = Promise.withResolvers<void>()
    let called = 0
    const both = async () => {
      called += 1
      if (called === 2) calls.resolve()
      await calls.promise
    }
    const outcomes = await Promise.all([one, other].map(async (each) => await deliver(answering(each, 410, both), id)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(['sent', 'sent'])
    expect((await listAttempts(one, id, { limit: 10, cursor: null })).data).toHaveLength(2)
    ids.push(id)
  }
  const disabled = (await auditEvents(one)).filter(({ action }) => action === 'webhook.disabled')
  expect(disabled.map(({ target }) => target).toSorted()).toEqual(ids.toSorted())
  for (const { database } of [one, other]) await database.close()
})

const take = async ({ cluster }: Database) => await cluster?.takeLeases(['webhooks whk_1'], 1)

test('a server whose lease could not be ended takes it again at once, and no other one does', async () => {
  const url = await postgresDatabase('leases')
  const [one, other] = [await openStore(url), await openStore(url)]
  expect(await take(one)).toEqual(['webhooks whk_1'])
  await askPostgres(url, 'ALTER TABLE leases RENAME TO hidden', [])
  await one.cluster?.endLease('webhooks whk_1', 0)
  await askPostgres(url, 'ALTER TABLE hidden RENAME TO leases', [])
  expect(await take(other)).toEqual([])
  expect(await take(one)).toEqual(['webhooks whk_1'])
  await one.cluster?.endLease('webhooks whk_1', 0)
  expect(await take(other)).toEqual(['webhooks whk_1'])
  for (const store of [one, other]) await store.close()
})
