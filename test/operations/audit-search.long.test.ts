import { beforeAll, expect, test } from 'bun:test'
import type { AuditEvent } from '../../db/database.ts'
import { hashSecret } from '../../src/domain/secret.ts'
import { type AuditSearch, searchEvents } from '../../src/operations/audit/read-audit.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode } from '../../src/operations/oauth/continue-grant.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Page } from '../../src/operations/page.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { createUser } from '../../src/operations/users/users.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { signIn } from '../support/sign-in.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { uploadVersion } from '../support/version.ts'
import { addApp, addUser, type AppInWorld, authorizeBody, exchangeBody, type Login } from '../support/world.ts'
import { sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
let user: Login
let app: AppInWorld
let other: AppInWorld
beforeAll(async () => {
  user = await addUser(platform)
  app = await addApp(platform, user)
  other = await addApp(platform, user)
  for (const { development } of [app, other, app]) {
    await issueAppToken(platform, trace, { ...development, scope: 'site:read' })
  }
  await signIn(platform, trace, { ...user, password: 'wrong password' }).catch(() => undefined)
  const session = await sessionOf(platform, user)
  for (const asked of [app, other]) {
    const { code } = await authorize(platform, trace, session, authorizeBody(asked), true)
    await exchangeCode(platform, trace, exchangeBody(asked, code), null)
  }
})

const everything: AuditSearch = {
  app: null,
  actorKind: null,
  actor: null,
  action: null,
  target: null,
  outcome: null,
  requestId: null,
  since: null,
  until: null,
}
const search = async (
  asked: Partial<AuditSearch>,
  limit = 3,
  on: Platform = platform,
): Promise<{ readonly events: AuditEvent[]; readonly pages: number }> => {
  const events: AuditEvent[] = []
  let cursor: string | null = null
  let pages = 0
  do {
    const page: Page<AuditEvent> = await searchEvents(on, { ...everything, ...asked }, { limit, cursor })
    expect(page.data.length).toBeLessThanOrEqual(limit)
    events.push(...page.data)
    cursor = page.nextCursor
    pages += 1
  } while (cursor !== null)
  return { events, pages }
}
const whole = async (on: Platform = platform) => (await auditEvents(on)).toSorted((a, b) => (a.id < b.id ? 1 : -1))

test('the pages of a search have every event once, newest first, including issued tokens', async () => {
  const all = await whole()
  for (const [issued, count] of [
    ['app_token.issued', 3],
    ['user_tokens.issued', 2],
  ] as const) {
    expect(all.filter(({ action }) => action === issued)).toHaveLength(count)
  }
  for (const limit of [1, 3, 1_000]) expect((await search({}, limit)).events).toEqual(all)
  expect((await search({}, all.length)).pages).toBe(1)
})

test('a filter finds all events that match, and no others', async () => {
  const all = await whole()
  const [first, newest] = [all.at(-1)?.at ?? 0, all.at(0)?.at ?? 0]
  const filters: readonly (readonly [asked: Partial<AuditSearch>, matches: (event: AuditEvent) => boolean])[] = [
    [{ app: app.slug }, (event) => event.appId === app.id],
    [{ actorKind: 'app' }, (event) => event.actorKind === 'app'],
    [{ actorKind: 'operator' }, (event) => event.actorKind === 'operator'],
    [{ actor: user.id }, (event) => event.actorId === user.id],
    [{ actor: user.email.toUpperCase() }, (event) => event.actorId === user.id],
    [{ actor: app.development.clientId }, (event) => event.actorId === app.development.clientId],
    [{ action: 'app_token.issued' }, (event) => event.action === 'app_token.issued'],
    [{ action: 'app_token' }, (event) => event.action === 'app_token.issued'],
    [{ action: 'user_tokens.issued' }, (event) => event.action === 'user_tokens.issued'],
    [
      { action: 'user_tokens', actor: other.development.clientId },
      (event) => event.action === 'user_tokens.issued' && event.appId === other.id,
    ],
    [{ action: 'session' }, (event) => event.action.startsWith('session.')],
    [{ action: 'session.create' }, (event) => event.action === 'session.create'],
    [{ outcome: 'refused' }, (event) => event.outcome === 'refused'],
    [{ outcome: 'done', app: other.slug }, (event) => event.outcome === 'done' && event.appId === other.id],
    [{ since: first, until: first }, () => false],
    [{ since: first + 5 }, (event) => event.at >= first + 5],
    [{ until: first + 5 }, (event) => event.at < first + 5],
    [{ since: newest }, (event) => event.at >= newest],
    [{ until: newest }, (event) => event.at < newest],
  ]
  for (const [asked, matches] of filters) {
    const { events } = await search(asked, 2)
    expect([asked, events]).toEqual([asked, all.filter(matches)])
  }
})

test('an action is found by whole words only, and wildcards have no special meaning', async () => {
  for (const action of ['ap', 'sess', 'app_token.issue', '%', 'app%token', '', "' OR 1=1 --"]) {
    expect([action, (await search({ action })).events]).toEqual([action, []])
  }
})

test('the events of one request are listed in order, even among thousands of others', async () => {
  const busy = await openAsOperator(`${temporaryFolder()}/busy.db`)
  const requestOf = () => ({ requestId: `req_${busy.random.uuidHex(busy.clock.now())}`, address: 'local' })
  const email = 'ada@example.com'
  await createUser(busy, trace, operator, { email, name: 'Ada', password: 'correct horse battery', isOperator: false })
  const request = requestOf()
  await setUserStatus(busy, request, operator, { email, status: 'disabled' })
  await setUserStatus(busy, request, operator, { email, status: 'active' })
  const between = requestOf()
  const now = busy.clock.now()
  await busy.database.transaction(async (q) => {
    const [event] = await q.audit.list({ appId: null, since: 0, limit: 1 })
    if (event === undefined) throw new Error('nothing has happened')
    for (let index = 0; index < 12_000; index += 1) {
      await q.audit.insert({ ...event, id: `aud_${busy.random.uuidHex(now)}`, ...between })
    }
  })
  const { events, pages } = await search({ requestId: request.requestId }, 50, busy)
  expect(events.map(({ action }) => action)).toEqual(['user.disabled', 'user.enabled'])
  expect(pages).toBe(2) // ten thousand rows, then the rest
  const first = await searchEvents(busy, { ...everything, requestId: request.requestId }, { limit: 50, cursor: null })
  expect(first.data).toHaveLength(2)
  // None of the twelve thousand is lost or repeated.
  expect(new Set((await search({ requestId: between.requestId }, 5_000, busy)).events.map(({ id }) => id)).size).toBe(
    12_000,
  )
  // A rare event before them is found on a later page.
  const rare = await search({ action: 'user.created' }, 50, busy)
  expect([rare.events.length, rare.pages]).toEqual([1, 2])
  await busy.database.close()
})

test('an issued token is found by its own request only', async () => {
  const session = await sessionOf(platform, user)
  const requestOf = () => ({ requestId: `req_${platform.random.uuidHex(platform.clock.now())}`, address: 'local' })
  const requests = [requestOf(), requestOf()]
  for (const request of requests) {
    await issueAppToken(platform, request, { ...app.development, scope: 'site:read' })
    const { code } = await authorize(platform, request, session, authorizeBody(app), true)
    await exchangeCode(platform, request, exchangeBody(app, code), null)
  }
  for (const { requestId } of requests) {
    const { events } = await search({ requestId }, 50)
    const actions = events.map(({ action }) => action).toSorted()
    expect(actions).toEqual(['app_token.issued', 'grant.created', 'user_tokens.issued'])
    expect(new Set(events.map((event) => event.requestId))).toEqual(new Set([requestId]))
  }
})

test('events are found up to one hour after their request began', async () => {
  const now = platform.clock.now()
  const requestId = `req_${platform.random.uuidHex(now)}`
  const [event] = await platform.database.queries.audit.list({ appId: null, since: 0, limit: 1 })
  if (event === undefined) throw new Error('nothing has happened')
  const ids = [59, 61].map((minutes) => `aud_${platform.random.uuidHex(now + minutes * 60_000)}`)
  await platform.database.transaction(async (q) => {
    for (const id of ids) await q.audit.insert({ ...event, id, requestId })
  })
  expect((await search({ requestId })).events.map(({ id }) => id)).toEqual(ids.slice(0, 1))
})

test('kinds of rows that are searched to different depths lose no event and repeat none', async () => {
  const uneven = await openAsOperator(`${temporaryFolder()}/uneven.db`)
  const busy = await addApp(uneven, await addUser(uneven))
  await uploadVersion(uneven, busy, { version: '1.0.0' }) // an event, and the token that it was uploaded with
  const [credential] = await uneven.database.queries.credentials.listByClient(busy.production.clientId)
  const now = uneven.clock.now()
  const addTokens = async (count: number, at: number) =>
    await uneven.database.transaction(async (q) => {
      for (let index = 0; index < count; index += 1) {
        const row = { scopes: 'site:read', createdAt: at, expiresAt: at + 1, revokedAt: null, ...trace }
        const key = uneven.random.timeKey(at)
        await q.appTokens.insert({ ...row, key, hash: hashSecret('nothing'), credentialId: credential?.id ?? '' })
      }
    })
  const isAllFound = async (limit: number) => {
    const all = (await whole(uneven)).map(({ id }) => id)
    expect((await search({}, limit, uneven)).events.map(({ id }) => id)).toEqual(all)
  }
  await addTokens(11_000, now)
  for (const limit of [4_000, 12_000]) await isAllFound(limit)
  const own = await search({ actor: busy.development.clientId }, 50, uneven)
  expect(own.events.map(({ action }) => action)).toEqual(['version.created', 'app_token.issued'])
  // Two kinds that both fill more than a page: first one reaches further back, then the other.
  await uneven.database.transaction(async (q) => {
    const [event] = await q.audit.list({ appId: null, since: 0, limit: 1 })
    if (event === undefined) throw new Error('nothing has happened')
    for (let index = 0; index < 10_500; index += 1) {
      await q.audit.insert({ ...event, id: `aud_${uneven.random.uuidHex(now + 1)}`, appId: null })
    }
  })
  await isAllFound(12_000)
  await addTokens(10_500, now + 2)
  await isAllFound(12_000)
  await uneven.database.close()
})

test('a malformed cursor or request ID is refused', async () => {
  for (const cursor of ['', 'aud_', 'aud_zz', `aud_${'0'.repeat(33)}`, `req_${'0'.repeat(32)}`]) {
    await expect(searchEvents(platform, everything, { limit: 1, cursor })).rejects.toMatchObject({
      facts: { param: 'cursor' },
    })
  }
  for (const requestId of ['', 'abc', `aud_${'0'.repeat(32)}`]) {
    const asked = { ...everything, requestId }
    await expect(searchEvents(platform, asked, { limit: 1, cursor: null })).rejects.toMatchObject({
      facts: { param: 'requestId' },
    })
  }
  for (const edge of ['0', 'f']) {
    const asked = { ...everything, requestId: `req_${edge.repeat(32)}` }
    expect((await searchEvents(platform, asked, { limit: 1, cursor: null })).data).toEqual([])
  }
})
