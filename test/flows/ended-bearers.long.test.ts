import { expect, test } from 'bun:test'
import { auditEvents } from '../support/audit-events.ts'
import { askBeside } from '../support/beside.ts'
import { freshDigits, secretUnder } from '../support/forged.ts'
import { maximumLifetimes } from '../../src/domain/lifetimes.ts'
import { type SecretKind } from '../../src/domain/secret.ts'
import { call } from '../support/call.ts'
import { forged } from '../support/forged.ts'
import { worldsOfTests } from '../support/world-of-file.ts'
import { appToken, grantTokens, signIn, type World } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const newWorld = worldsOfTests()
/** A world in which one bearer of an address may be refused. */
const strictWorld = async () => await newWorld({ env: { RATE_LIMIT: 'on', RATE_LIMIT_FAILED: '1/600' } })

/** A secret that was never issued, with a right checksum, as if made this many seconds ago. */
const madeUp = (kind: SecretKind, secondsAgo: number): string =>
  secretUnder(kind, freshDigits(kind, Date.now() - secondsAgo * 1000))
const whoIs = async ({ server }: World, token: string) => await call(server.url, 'GET', '/me', { token })

/** The audit events of refused bearer tokens, and how many refusals they count. */
const refusals = async (file: string) => {
  const text = "SELECT detail FROM audit_events WHERE action = 'bearer.check'"
  const rows = await askBeside<{ detail: string | null }>(file, text)
  const repeated = rows.map(({ detail }) => Number(JSON.parse(detail ?? '{"repeated":1}').repeated))
  return { rows: rows.length, told: repeated.reduce((sum, count) => sum + count, 0) }
}

const bearers = [
  ['appToken', maximumLifetimes.appToken],
  ['userAccessToken', maximumLifetimes.accessToken],
  ['session', maximumLifetimes.session],
  ['embeddedSession', maximumLifetimes.embeddedSession],
] as const

test('a bearer token older than its longest lifetime is refused without a limit; made-up fresh ones are limited', async () => {
  const world = await strictWorld()
  for (const [kind, lifetime] of bearers) {
    const expired = madeUp(kind, lifetime + 2)
    for (let count = 0; count < 5; count += 1) expectRefusal(await whoIs(world, expired), 'invalid_token')
  }
  expectRefusal(await whoIs(world, madeUp('appToken', 0)), 'invalid_token')
  for (const [kind, lifetime] of bearers) {
    for (const secondsAgo of [lifetime - 60, 0, -3_600]) {
      expectRefusal(await whoIs(world, madeUp(kind, secondsAgo)), 'rate_limited')
    }
  }
})

test('an old token that is malformed or not a bearer token counts against the limit', async () => {
  for (const text of [`${madeUp('appToken', 10_000)}x`, madeUp('appToken', 10_000).replace('apat_', 'apua_')]) {
    const world = await strictWorld()
    expectRefusal(await whoIs(world, text), 'invalid_token')
    expectRefusal(await whoIs(world, text), 'rate_limited')
  }
  const world = await strictWorld()
  expectRefusal(await whoIs(world, madeUp('refreshToken', 10_000_000)), 'invalid_token')
  expectRefusal(await whoIs(world, madeUp('clientSecretDevelopment', 10_000_000)), 'rate_limited')
})

test('a bearer token that was issued and has ended is refused without a limit', async () => {
  const world = await strictWorld()
  const { url } = world.server
  const token = await appToken(url, world.app.development)
  const { accessToken } = await grantTokens(world)
  const session = await signIn(url, world.user)
  for (const revoked of [token, accessToken]) await call(url, 'POST', '/oauth/revoke', { token: revoked, body: {} })
  await call(url, 'DELETE', '~/api/session', { token: session })
  for (let count = 0; count < 5; count += 1) {
    for (const ended of [token, accessToken, session]) expectRefusal(await whoIs(world, ended), 'invalid_token')
    const headers = { Cookie: sessionCookieOf(world.server.url, session), 'Sec-Fetch-Site': 'same-origin' }
    expectRefusal(await call(url, 'GET', '~/api/session', { headers }), 'login_required')
  }
})

test('a forged token under the key of an issued one counts against the limit', async () => {
  const world = await strictWorld()
  const token = await appToken(world.server.url, world.app.development)
  const wrong = forged('appToken', token).known
  for (const code of ['invalid_token', 'rate_limited'] as const) expectRefusal(await whoIs(world, wrong), code)
})

test('tokens that are too old are counted, and recorded with their number when the server stops', async () => {
  const world = await strictWorld()
  const { server } = world
  const expired = madeUp('appToken', 10_000)
  await Promise.all(Array.from({ length: 250 }, async () => await whoIs(world, expired)))
  expect(await refusals(server.database)).toEqual({ rows: 0, told: 0 })
  await server.stop()
  expect(await refusals(server.database)).toEqual({ rows: 1, told: 250 })
})

test('of unlimited refusals the first hundred of a minute are recorded, and one event counts the others', async () => {
  const world = await strictWorld()
  const { server } = world
  const token = await appToken(server.url, world.app.development)
  await call(server.url, 'POST', '/oauth/revoke', { token, body: {} })
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 50 }, async () => await whoIs(world, token)))
  }
  expect(await refusals(server.database)).toEqual({ rows: 100, told: 100 })
  await server.stop()
  expect(await refusals(server.database)).toEqual({ rows: 101, told: 250 })
  const events = await auditEvents(world.platform, world.app)
  const last = events.findLast(({ action }) => action === 'bearer.check')
  expect(JSON.parse(last?.detail ?? '')).toMatchObject({ repeated: 150, from: expect.any(String) })
})

test('made-up codes of an authenticated client leave a hundred events a minute, and one event counts the others', async () => {
  const world = await newWorld()
  const { server, app } = world
  const body = { grantType: 'refresh_token', ...app.development, refreshToken: 'apur_x' }
  for (let count = 0; count < 130; count += 1) {
    expectRefusal(await call(server.url, 'POST', '/oauth/token', { body }), 'invalid_grant')
  }
  await server.stop()
  const events = await auditEvents(world.platform, app)
  const rows = events.filter(({ reason }) => reason === 'invalid_grant')
  expect(rows.length).toBe(101)
  expect(rows.at(-1)).toMatchObject({ actorKind: 'app', actorId: app.development.clientId })
  expect(JSON.parse(rows.at(-1)?.detail ?? '').repeated).toBe(30)
})
