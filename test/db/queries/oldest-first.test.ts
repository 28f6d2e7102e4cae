import { beforeAll, expect, test } from 'bun:test'
import { type TimeKey } from '../../../src/domain/time-key.ts'
import { rowKey } from '../../../src/domain/identifier.ts'
import { hashSecret } from '../../../src/domain/secret.ts'
import { createRandom } from '../../../src/runtime/random.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'
import { trace } from '../../support/operator.ts'
import { addApp, addUser, type Login } from '../../support/world.ts'

const platform = await platformOfFile()
let user: Login
let credentialId: string
beforeAll(async () => {
  user = await addUser(platform)
  const { development } = await addApp(platform, user)
  credentialId = (await platform.database.queries.credentials.listByClient(development.clientId))[0]?.id ?? ''
})

const random = createRandom() // a new one, because it never goes back in time
const hour = 3_600_000
const day = 24 * hour
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

/** Of the first three days. */
const purgeTokens = async (limit: number) => {
  const rows = platform.database.transaction(
    async (q) => await q.appTokens.purge(Date.UTC(2100), from + 3 * day, limit),
  )
  return (await rows).map(({ key }) => key)
}

test('a purge removes the oldest tokens before a time, a limited number at a time', async () => {
  const keys = await addTokens(5)
  expect(await purgeTokens(2)).toEqual(keys.slice(0, 2))
  expect(await purgeTokens(2)).toEqual(keys.slice(2, 3))
  expect(await purgeTokens(2)).toEqual([])
  const found = await Promise.all(keys.map(async (key) => await platform.database.queries.appTokens.find(key)))
  expect(found.map((row) => row !== null)).toEqual([false, false, false, true, true])
})

const purgeTickets = async (before: number, limit = 250) =>
  await platform.database.transaction(async (q) => await q.expiring.remove('form_tickets', before + 12 * hour, limit))
const spendTicket = async (key: string) =>
  await platform.database.transaction(async (q) => await q.formTickets.spend(key, from))

test('a purge removes the oldest tickets before a time, a limited number at a time', async () => {
  const keys = Array.from({ length: 4 }, (_, index) => rowKey(random.uuid(from + (10 + index) * day)))
  for (const key of keys) await spendTicket(key)
  const [first, last] = [from + 10 * day, from + 13 * day]
  expect([await purgeTickets(first), await purgeTickets(last, 2), await purgeTickets(last, 2)]).toEqual([0, 2, 1])
  expect(await Promise.all(keys.map(spendTicket))).toEqual([true, true, true, false]) // a removed ticket could be spent again
})
