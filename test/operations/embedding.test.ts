import { beforeAll, describe, expect, test } from 'bun:test'
import {
  exchangeInstallSessionCode,
  isKnownOrigin,
  issueInstallSessionCode,
} from '../../src/operations/embedding/embedding.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { endInstall } from '../../src/operations/installs/installs.ts'
import type { Platform, Trace } from '../../src/operations/platform.ts'
import { signOut } from '../../src/operations/sessions/own-sessions.ts'
import { authenticateEmbeddedSession } from '../../src/operations/authenticate.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addEmbeddedInstall, addEmbeddedVersion, embedOrigin, installEmbedded } from '../support/embedding.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
let user: Login
let app: AppInWorld
let install: string
beforeAll(async () => {
  user = await addUser(platform)
  app = await addApp(platform, await addUser(platform, 'Dora Developer'))
  install = await addEmbeddedInstall(platform, app, user)
})

const open = async (login: Login, id: string, where = platform) =>
  await refusalOf(issueInstallSessionCode(where, trace, await sessionOf(platform, login), id))

test('a user opens their own installs only', async () => {
  expect(await open(user, install)).toBe('done')
  expect(await open(await addUser(platform, 'Mallory'), install)).toBe('route_not_found')
  expect(await open(user, `ins_${'0'.repeat(32)}`)).toBe('route_not_found')
})

test("a page of the builder's own origin is never opened in a frame, because it could escape the sandbox", async () => {
  expect(await open(user, install, { ...platform, publicUrl: embedOrigin(app) })).toBe('version_not_eligible')
})

test('a suspended app and a version without a page cannot be opened', async () => {
  const pageless = await addApp(platform, await addUser(platform))
  await addEmbeddedVersion(platform, pageless, { manifest: { name: 'x' } })
  expect(await open(user, await installEmbedded(platform, pageless, user, { kind: 'site' }))).toBe(
    'version_not_eligible',
  )
  const asleep = await addApp(platform, await addUser(platform))
  await addEmbeddedVersion(platform, asleep)
  const id = await installEmbedded(platform, asleep, user, { kind: 'site' })
  await setAppStatus(platform, trace, operator, { slug: asleep.slug, status: 'suspended' })
  expect(await open(user, id)).toBe('app_inactive')
  await setAppStatus(platform, trace, operator, { slug: asleep.slug, status: 'active' })
  expect(await open(user, id)).toBe('done')
  await endInstall(platform, trace, operator, id)
  expect(await open(user, id)).toBe('install_required')
})

test('only the owner of the app opens a version under development', async () => {
  const owner = await addUser(platform, 'Dora Developer')
  const draft = await addApp(platform, owner)
  await addEmbeddedVersion(platform, draft, { steps: [] })
  const test = { kind: 'site', environment: 'development' } as const
  expect(await open(owner, await installEmbedded(platform, draft, owner, test))).toBe('done')
  // Only the owner can install it, but even a row of another user's install opens nothing.
  const row = (await platform.database.queries.installs.find(install))?.install
  if (row === undefined) throw new Error('the install is gone')
  const foreign = { ...row, id: `ins_${'1'.repeat(32)}`, appId: draft.id, environment: 'development' as const }
  await platform.database.transaction(async (q) => await q.installs.insert(foreign))
  expect(await open(user, foreign.id)).toBe('version_not_eligible')
})

test('an origin is known once a page of it was opened; an origin that is too long is not looked up', async () => {
  expect(await open(user, install)).toBe('done')
  expect(await isKnownOrigin(platform, embedOrigin(app))).toBe(true)
  expect(await isKnownOrigin(platform, 'https://stranger.example')).toBe(false)
  expect(await isKnownOrigin(platform, `https://${'x'.repeat(100_000)}.example`)).toBe(false)
})

test('a code and its embedded session end with the session that opened them, even if the user has others', async () => {
  const sessions = [
    await sessionOf(platform, user),
    await sessionOf(platform, user),
    await sessionOf(platform, user),
  ] as const
  const [, opening] = sessions
  const origin = embedOrigin(app)
  const openHere = async () => (await issueInstallSessionCode(platform, trace, opening, install)).code
  const exchange = async (code: string) =>
    await exchangeInstallSessionCode(platform, trace, { clientId: app.production.clientId, code, origin })
  const { sessionToken } = await exchange(await openHere())
  const unspent = await openHere()
  expect((await authenticateEmbeddedSession(platform, sessionToken)).caller).toMatchObject({ installId: install })
  await signOut(platform, trace, opening)
  expect((await authenticateEmbeddedSession(platform, sessionToken)).caller).toBeNull()
  expect(await refusalOf(exchange(unspent))).toBe('invalid_grant')
})

test('every event of a code is recorded: issued, refused, exchanged, presented again', async () => {
  const session = await sessionOf(platform, user)
  const origin = embedOrigin(app)
  const { clientId } = app.production
  const of = { appId: app.id, environment: 'production', target: install }
  const byApp = { ...of, actorKind: 'app', actorId: clientId }
  let calls = 0
  const rowsOf = async (call: (from: Trace) => Promise<unknown>) => {
    const from = { ...trace, requestId: `req_${String((calls += 1)).padStart(32, 'e')}` }
    await call(from).catch(() => undefined)
    const events = await auditEvents(platform)
    return events.filter(({ requestId }) => requestId === from.requestId)
  }
  let code = ''
  const issued = await rowsOf(async (from) => {
    code = (await issueInstallSessionCode(platform, from, session, install)).code
  })
  expect(issued).toMatchObject([
    { ...of, actorKind: 'user', actorId: user.id, action: 'install_session_code.issued', outcome: 'done' },
  ])
  const exchange = async (change: object) =>
    await rowsOf(
      async (from) => await exchangeInstallSessionCode(platform, from, { clientId, code, origin, ...change }),
    )
  const refusal = { action: 'embedded_session.issue', outcome: 'refused' }
  const elsewhere = { ...of, target: clientId, actorKind: 'anonymous', actorId: null }
  expect(await exchange({ origin: 'https://stranger.example' })).toMatchObject([
    { ...byApp, ...refusal, reason: 'origin_not_allowed' },
  ])
  expect(await exchange({ code: 'nonsense' })).toMatchObject([{ ...elsewhere, ...refusal, reason: 'invalid_grant' }])
  expect(await exchange({})).toMatchObject([{ ...byApp, action: 'embedded_session.issued', outcome: 'done' }])
  expect(await exchange({})).toMatchObject([
    { ...byApp, action: 'install_session_code.reuse_detected', outcome: 'refused', reason: 'invalid_grant' },
  ])
})

describe('a spent code that is presented again', () => {
  const here = { ...trace, address: '192.0.2.1' }
  /** Spends a code, presents it again later, and returns the outcome and whether the session is still live. */
  const replay = async (
    afterMs: number,
    from: Trace = here,
    change: { origin?: string | null; clientId?: string } = {},
  ) => {
    const spentAt = platform.clock.now()
    const at = (now: number): Platform => ({ ...platform, clock: { ...platform.clock, now: () => now } })
    const { code } = await issueInstallSessionCode(platform, trace, await sessionOf(platform, user), install)
    const request = { clientId: app.production.clientId, code, origin: embedOrigin(app) }
    const { sessionToken } = await exchangeInstallSessionCode(at(spentAt), here, request)
    const trail = async () => await platform.database.queries.audit.pageOfApp(app.id, null, '~', 1)
    const refusal = await refusalOf(exchangeInstallSessionCode(at(spentAt + afterMs), from, { ...request, ...change }))
    const [{ action, detail } = { action: null, detail: null }] = await trail()
    return {
      refusal,
      action,
      detail,
      lives: (await authenticateEmbeddedSession(platform, sessionToken)).caller !== null,
    }
  }
  const reuse = { refusal: 'invalid_grant', action: 'install_session_code.reuse_detected' }
  const harmless = { ...reuse, detail: '{"sessionEnded":false}', lives: true }
  const ended = { ...reuse, detail: '{"sessionEnded":true}', lives: false }

  test('from the same page within two seconds ends nothing and gives nothing', async () => {
    expect(await replay(0)).toEqual(harmless)
    expect(await replay(2_000)).toEqual(harmless)
  })

  test('later, from another address, or from another origin or none ends the session it gave', async () => {
    expect(await replay(2_001)).toEqual(ended)
    expect(await replay(0, { ...here, address: '192.0.2.2' })).toEqual(ended)
    for (const origin of ['https://stranger.example', null]) expect(await replay(0, here, { origin })).toEqual(ended)
  })

  test('ends it even if the code has expired', async () => {
    expect(await replay(599_000)).toEqual(ended)
  })

  test('by another client changes nothing', async () => {
    const other = { clientId: app.development.clientId }
    expect(await replay(599_000, here, other)).toMatchObject({ refusal: 'invalid_grant', lives: true })
  })
})

test('a purge with a limit removes the oldest rows first', async () => {
  const session = await sessionOf(platform, user)
  const origin = embedOrigin(app)
  const openHere = async () => (await issueInstallSessionCode(platform, trace, session, install)).code
  const exchange = async (code: string) =>
    await exchangeInstallSessionCode(platform, trace, { clientId: app.production.clientId, code, origin })
  await exchange(await openHere())
  const { sessionToken } = await exchange(await openHere())
  const unspent = await openHere()
  const over = platform.clock.now() + 13 * 3_600_000
  await platform.database.transaction(async (q) => {
    expect(await q.expiring.remove('install_session_codes', over, 1)).toBe(1)
    expect(await q.expiring.remove('embedded_sessions', over, 1)).toBe(1)
  })
  expect((await authenticateEmbeddedSession(platform, sessionToken)).caller).toMatchObject({ installId: install })
  expect(await refusalOf(exchange(unspent))).toBe('done')
})
