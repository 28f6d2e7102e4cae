import { expect } from 'bun:test'
import type { Database } from '../../../db/database.ts'
import type { Environment } from '../../../src/domain/app.ts'
import { needs } from '../../support/needs.ts'
import { openAsOperator } from '../../support/operator.ts'
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
