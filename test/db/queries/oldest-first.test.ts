import { beforeAll, expect, test } from 'bun:test'
import { type TimeKey, timeKeyAt } from '../../../src/domain/time-key.ts'
import { keyOfUuidTime, rowKey } from '../../../src/domain/identifier.ts'
import { hashSecret } from '../../../src/domain/secret.ts'
import { createRandom } from '../../../src/runtime/random.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'
import { sessionOf } from '../../operations/support/owner.ts'
import { trace } from '../../support/operator.ts'
import { addApp, addUser, type Login } from '../../support/world.ts'
import { addSide } from '../support/two-sides.ts'

const platform = await platformOfFile()
let user: Login
let credentialId: string
beforeAll(async () => {
  user = await addUser(platform)
  const { development } = await addApp(platform, user)
  credentialId = (await platform.database.queries.credentials.listByClient(development.clientId))[0]?.id ?? ''
})

const random = createRandom() // a new one, because it never goes back in time
const day = 24 * 3_600_000
const beyond = 'z'.repeat(22)
const from = Date.UTC(2026, 0)
/** Tokens of several days, one a day. */
const addTokens = async (days: number): Promise<readonly TimeKey[]> => {
  const keys = Array.from({ length: days }, (_, index) => random.timeKey(from + index * day))
  await platform.database.transaction(async (q) => {
    for (const [index, key] of keys.entries()) {
      const times = { createdAt: from + index * day, expiresAt: from + index * day + 1, revokedAt: null }
      await q.appTokens.insert({ key, credentialId, scopes: '', hash: hashSecret(String(key)), ...times, ...trace })
    }
  })
  return keys
}

test('a purge removes the oldest tokens before a time, a limited number at a time', async () => {
  const keys = await addTokens(5)
  const purge = async (limit: number) =>
    (await platform.database.transaction(async (q) => await q.appTokens.purge(keys[3] ?? timeKeyAt(0), limit))).map(
      ({ key }) => key,
    )
  expect(await purge(2)).toEqual(keys.slice(0, 2))
  expect(await purge(2)).toEqual(keys.slice(2, 3))
  expect(await purge(2)).toEqual([])
  const found = await Promise.all(keys.map(async (key) => await platform.database.queries.appTokens.find(key)))
  expect(found.map((row) => row !== null)).toEqual([false, false, false, true, true])
})

test('a purge removes the oldest sessions before a time, a limited number at a time', async () => {
  const keys = [await sessionOf(platform, user), await sessionOf(platform, user), await sessionOf(platform, user)].map(
    ({ sessionKey }) => sessionKey,
  )
  const purge = async (before: string, limit: number) =>
    await platform.database.transaction(async (q) => await q.sessions.purge(before, limit))
  expect(await purge(keys[2] ?? '', 1)).toBe(1)
  expect(await purge(keys[2] ?? '', 250)).toBe(1)
  expect(await purge(keys[2] ?? '', 250)).toBe(0)
  const found = await Promise.all(keys.map(async (key) => await platform.database.queries.sessions.find(key)))
  expect(found.map((row) => row !== null)).toEqual([false, false, true])
})

const purgeFrames = async (what: 'purgeCodes' | 'purgeSessions', before: string, limit = 250) =>
  await platform.database.transaction(async (q) => await q.embedding[what](before, limit))
const purgeTickets = async (before = '', limit = 250) =>
  await platform.database.transaction(async (q) => await q.formTickets.purge(before, limit))
const spendTicket = async (key: string) =>
  await platform.database.transaction(async (q) => await q.formTickets.spend(key, from))

test('a purge removes the oldest codes and sessions of frames before a time, a limited number at a time', async () => {
  const { code } = await addSide(platform) // the newer of two codes, and a session
  expect([
    await purgeFrames('purgeCodes', keyOfUuidTime(from)),
    await purgeFrames('purgeSessions', keyOfUuidTime(from)),
  ]).toEqual([0, 0])
  expect([await purgeFrames('purgeCodes', code), await purgeFrames('purgeCodes', code)]).toEqual([1, 0])
  expect((await platform.database.queries.embedding.findCode(code))?.code.key).toBe(code)
  expect(await purgeFrames('purgeSessions', beyond)).toBe(1)
})

test('a purge removes the oldest tickets before a time, a limited number at a time', async () => {
  const keys = Array.from({ length: 4 }, (_, index) => rowKey(random.uuid(from + (10 + index) * day)))
  for (const key of keys) await spendTicket(key)
  expect([await purgeTickets(keys[0]), await purgeTickets(keys[3], 2), await purgeTickets(keys[3], 2)]).toEqual([
    0, 2, 1,
  ])
  expect(await Promise.all(keys.map(spendTicket))).toEqual([true, true, true, false]) // a removed ticket could be spent again
})
