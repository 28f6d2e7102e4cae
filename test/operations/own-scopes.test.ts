import { expect, test } from 'bun:test'
import type { OwnScopeUse } from '../../src/domain/scope.ts'
import { findApp } from '../../src/operations/apps/app-record.ts'
import { changeAppScopes, createApp } from '../../src/operations/apps/apps.ts'
import { authenticateAppToken, authenticateUserToken } from '../../src/operations/authenticate.ts'
import { authorize, prepareConsent } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import { checkAccess, introspect } from '../../src/operations/oauth/introspect.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import {
  addScope,
  findScope,
  giveScope,
  listScopes,
  retireScope,
  scopeReach,
  takeScope,
} from '../../src/operations/scopes/scopes.ts'
import { createVersion } from '../../src/operations/versions/create-version.ts'
import { readAuthorizationParameters } from '../../src/domain/authorization-request.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, authorizeBody, exchangeBody } from '../support/world.ts'
import { developmentCaller, refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
const owner = await addUser(platform)
const q = platform.database.queries

const add = async (
  name: string,
  usableBy: OwnScopeUse,
  isRestricted: boolean | null = false,
  text = 'List your orders',
) => await addScope(platform, trace, operator, { name, usableBy, text, isRestricted })
const register = async (app: AppInWorld, scopes: string) =>
  await changeAppScopes(platform, trace, operator, { slug: app.slug, scopes })
const give = async (app: AppInWorld, name: string) =>
  await giveScope(platform, trace, operator, { slug: app.slug, name })
const take = async (app: AppInWorld, name: string) =>
  await takeScope(platform, trace, operator, { slug: app.slug, name })
const retire = async (name: string) => await retireScope(platform, trace, operator, name)
const tokenOf = async (app: AppInWorld, scope: string | null) =>
  await issueAppToken(platform, trace, { ...app.development, scope })
const scopeOfToken = async (token: string) => (await authenticateAppToken(platform, token))?.scope ?? null
const scopesOfAccess = async (token: string) => (await authenticateUserToken(platform, token))?.scopes ?? null
const refreshed = async (app: AppInWorld, refreshToken: string, scope: string | null = null) =>
  await refreshTokens(platform, trace, { ...app.development, refreshToken, scope }, null)

const grantFor = async (app: AppInWorld, scope: string) => {
  const session = await sessionOf(platform, owner)
  const { code } = await authorize(platform, trace, session, authorizeBody(app, scope), true)
  return await exchangeCode(platform, trace, exchangeBody(app, code), null)
}

let counted = 0
/** A name that no other test uses. */
const fresh = (verb = 'read'): `${string}:${string}` => `area${(counted += 1)}:${verb}`

test('a scope is added with a name and a text that never change, and adding it again changes nothing', async () => {
  const name = fresh()
  const { scope, created } = await add(name, 'both', false, '  List  your orders ')
  expect(created).toBeTrue()
  expect(scope).toMatchObject({ name, for: 'both', text: 'List your orders', restricted: false, retiredAt: null })
  expect(await add(name, 'both')).toEqual({ scope, created: false })
  for (const other of [add(name, 'app'), add(name, 'both', true), add(name, 'both', false, 'Delete your orders')]) {
    expect(await refusalOf(other)).toBe('invalid_request')
  }
  expect(await findScope(platform, name)).toEqual(scope)
  const events = (await q.audit.list({ appId: null, since: 0, limit: 300 })).filter(({ target }) => target === name)
  expect(events.map(({ action }) => action)).toEqual(['scope.added'])
})

test.each(['', ' ', 'two\nlines', 'evil\u202ename', 'x'.repeat(201), 'a\0b', 'see https://evil.example'])(
  'no scope has the text %j',
  async (text) => {
    const refusal = add(fresh(), 'user', false, text)
    await expect(refusal).rejects.toMatchObject({ code: 'invalid_request', facts: { param: 'text' } })
  },
)

test.each(['orders', 'Orders:read', 'orders:read ', 'site:list', 'profile.age:read', 'customers.vip:read'])(
  'no scope has the name %j',
  async (name) => {
    await expect(add(name, 'user')).rejects.toMatchObject({ code: 'invalid_request', facts: { param: 'name' } })
  },
)

test('a scope that app tokens can have is restricted unless it is said that it is not', async () => {
  const added = (['app', 'user', 'both'] as const).map(async (usableBy) => await add(fresh(), usableBy, null))
  expect((await Promise.all(added)).map(({ scope }) => scope.restricted)).toEqual([true, false, true])
})

test('an app registers a restricted scope only after it was given it, and one that does not exist never', async () => {
  const app = await addApp(platform, owner)
  const other = await addApp(platform, owner)
  const name = fresh()
  await add(name, 'both', null)
  const scopes = `site:read ${name}`
  const newApp = { ownerEmail: owner.email, name: 'App', slug: fresh().replace(':', '-'), scopes }
  await expect(createApp(platform, trace, operator, newApp)).rejects.toMatchObject({
    code: 'scope_not_available',
    facts: { param: 'scopes' },
  })
  expect(await refusalOf(register(app, scopes))).toBe('scope_not_available')
  expect(await refusalOf(tokenOf(app, name))).toBe('scope_not_available')
  expect(await give(app, name)).toMatchObject({ app: app.slug, given: [name] })
  expect(await refusalOf(tokenOf(app, name))).toBe('scope_not_allowed') // it was given, and is not registered yet
  expect((await register(app, scopes)).scopes).toContain(name)
  expect(await refusalOf(register(other, scopes))).toBe('scope_not_available')
  expect(await refusalOf(register(app, `site:read ${fresh()}`))).toBe('invalid_request')
  expect(await refusalOf(give(app, fresh()))).toBe('invalid_request')
  const open = fresh()
  await add(open, 'user')
  expect(await refusalOf(give(app, open))).toBe('invalid_request')
})

test('tokens of apps and of users carry the scopes that each can have, and all ways to ask say so', async () => {
  const [forApp, forUser, forBoth] = [fresh('app'), fresh('user'), fresh('both')]
  for (const [name, use] of [
    [forApp, 'app'],
    [forUser, 'user'],
    [forBoth, 'both'],
  ] as const)
    await add(name, use)
  const app = await addApp(platform, owner, `site:read profile:read ${forApp} ${forUser} ${forBoth}`)
  const all = [forApp, forBoth, 'site:read'].toSorted().join(' ')
  expect((await tokenOf(app, null)).scope).toBe(all)
  const issued = await tokenOf(app, `${forBoth} ${forApp}`)
  expect(issued.scope).toBe([forApp, forBoth].toSorted().join(' '))
  expect(await refusalOf(tokenOf(app, forUser))).toBe('scope_not_allowed')
  expect(await refusalOf(tokenOf(app, fresh()))).toBe('invalid_scope')

  const asked = `${forUser} ${forBoth} profile:read`
  const grant = await grantFor(app, asked)
  expect(grant.scope).toBe([forUser, forBoth, 'profile:read'].toSorted().join(' '))
  const session = await sessionOf(platform, owner)
  expect(await refusalOf(authorize(platform, trace, session, authorizeBody(app, forApp), true))).toBe(
    'scope_not_allowed',
  )
  expect(await refusalOf(authorize(platform, trace, session, authorizeBody(app, fresh()), true))).toBe('invalid_scope')
  expect((await introspect(platform, trace, app.development, grant.accessToken)).token).toMatchObject({
    scope: grant.scope,
  })

  const caller = await authenticateUserToken(platform, grant.accessToken)
  if (caller === null) throw new Error('the token does not live')
  const check = async (...scopes: `${string}:${string}`[]) =>
    await checkAccess(platform, caller, { scopes, resource: null, environment: 'development' })
  expect(await check(forUser)).toMatchObject({ scope: grant.scope })
  expect(await refusalOf(check(forApp))).toBe('insufficient_scope')
  expect(await refusalOf(check(fresh()))).toBe('invalid_scope')
})

test('the consent page has the text of the scope', async () => {
  const name = fresh()
  await add(name, 'user', null, 'Print your shipping labels')
  const app = await addApp(platform, owner, `profile:read ${name}`)
  const { clientId, redirectUri, state, codeChallenge, codeChallengeMethod } = authorizeBody(app)
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: name,
    state,
    code_challenge: codeChallenge,
    code_challenge_method: codeChallengeMethod,
  })
  const step = await prepareConsent(
    platform,
    await sessionOf(platform, owner),
    readAuthorizationParameters(query.toString()),
  )
  if (step.kind !== 'ask') throw new Error(step.kind)
  expect(step.consent.catalogue.get(name)?.words).toBe('Print your shipping labels')
})

test('a retired scope is gone at once from apps, grants, versions and live tokens, and a grant without another one ends', async () => {
  const [name, kept] = [fresh(), fresh()]
  for (const each of [name, kept]) await add(each, 'both')
  const app = await addApp(platform, owner, `site:read ${name} ${kept}`)
  const upload = { version: '1.0.0', notes: null, manifest: {}, scopes: [name, 'site:read'], artifact: null }
  await createVersion(platform, trace, await developmentCaller(platform, app), upload, null)
  const [both, only] = [await tokenOf(app, `${name} site:read`), await tokenOf(app, name)]
  const wide = await grantFor(app, `${name} ${kept}`)
  const narrow = await grantFor(app, name)
  const narrowed = await grantFor(app, `${name} ${kept}`)
  const access = await refreshed(app, narrowed.refreshToken, name)

  expect(await scopeReach(platform, name)).toMatchObject({ apps: 1, grants: 3, endedGrants: 1 })
  expect(await retire(name)).toMatchObject({ apps: 1, grants: 2, endedGrants: 1 })
  expect(await retire(name)).toMatchObject({ apps: 0, grants: 0, endedGrants: 0 })

  expect((await findApp(q, app.slug)).scopes).toBe(`${kept} site:read`)
  expect((await q.versions.byName(app.id, '1.0.0'))?.scopes).toBe('site:read')
  expect(await scopeOfToken(both.accessToken)).toBe('site:read')
  expect(await scopeOfToken(only.accessToken)).toBeNull()
  expect(await scopesOfAccess(wide.accessToken)).toEqual([kept])
  expect(await scopesOfAccess(narrow.accessToken)).toBeNull()
  expect(await scopesOfAccess(access.accessToken)).toBeNull()
  expect((await introspect(platform, trace, app.development, wide.refreshToken)).token).toMatchObject({ scope: kept })
  expect((await introspect(platform, trace, app.development, both.accessToken)).token).toMatchObject({
    scope: 'site:read',
  })
  expect((await introspect(platform, trace, app.development, only.accessToken)).token).toBeNull()
  expect((await refreshed(app, wide.refreshToken)).scope).toBe(kept)
  expect(await refusalOf(refreshed(app, narrow.refreshToken))).toBe('invalid_grant')
  expect((await refreshed(app, access.refreshToken)).scope).toBe(kept)
  expect(await refusalOf(tokenOf(app, name))).toBe('invalid_scope')
  expect(await refusalOf(register(app, `site:read ${name}`))).toBe('invalid_request')

  await expect(add(name, 'both')).rejects.toMatchObject({ code: 'invalid_request', facts: { param: 'name' } })
  const events = (await q.audit.list({ appId: null, since: 0, limit: 300 })).filter(
    ({ action, target }) => target === name || (action.startsWith('grant.') && target === narrow.grantId),
  )
  expect(events.map(({ action }) => action).toSorted()).toEqual([
    'grant.created',
    'grant.revoked',
    'scope.added',
    'scope.retired',
  ])
  const [changed] = await q.audit.pageOfApp(app.id, 'app.scopes_changed', '~', 10)
  expect(JSON.parse(changed?.detail ?? '')).toEqual({ added: [], withdrawn: [name] })
})

test('a scope that an app had withdrawn before is gone from its tokens as well', async () => {
  const name = fresh()
  await add(name, 'both')
  const app = await addApp(platform, owner, `site:read ${name}`)
  const [token, grant] = [await tokenOf(app, null), await grantFor(app, `site:read ${name}`)]
  await register(app, 'site:read')
  expect(await scopeOfToken(token.accessToken)).toContain(name)
  await retire(name)
  expect(await scopeOfToken(token.accessToken)).toBe('site:read')
  expect(await scopesOfAccess(grant.accessToken)).toEqual(['site:read'])
})

test('a token that was being issued while its scope was retired does not have it', async () => {
  const name = fresh()
  await add(name, 'app')
  const app = await addApp(platform, owner, `site:read ${name}`)
  const { accessToken } = await tokenOf(app, null)
  const caller = await authenticateAppToken(platform, accessToken)
  await retire(name)
  // On PostgreSQL an insert that has read the app before may be committed after the retirement: its row says what was read then.
  const row = await q.appTokens.find(caller?.tokenKey ?? 0)
  expect(row?.scopes).toContain(name)
  expect(await scopeOfToken(accessToken)).toBe('site:read')
})

test('retiring a scope while tokens are issued leaves no token with it', async () => {
  const name = fresh()
  await add(name, 'both')
  const app = await addApp(platform, owner, `site:read ${name}`)
  const grant = await grantFor(app, `site:read ${name}`)
  const issuing = Array.from({ length: 20 }, () => tokenOf(app, null))
  const granting = Array.from({ length: 5 }, () => grantFor(app, `site:read ${name}`).catch(() => null))
  const [retired, tokens, grants, turn] = await Promise.all([
    retire(name),
    Promise.all(issuing),
    Promise.all(granting),
    refreshed(app, grant.refreshToken),
  ])
  expect(retired.apps).toBe(1)
  for (const { accessToken } of tokens) expect(await scopeOfToken(accessToken)).toBe('site:read')
  for (const each of [turn, ...grants]) {
    if (each !== null) expect(await scopesOfAccess(each.accessToken)).toEqual(['site:read'])
    if (each !== null) expect((await refreshed(app, each.refreshToken)).scope).toBe('site:read')
  }
})

test('a restricted scope that is taken back is gone from this app alone, and giving it again revives nothing', async () => {
  const name = fresh()
  await add(name, 'both', null)
  const [app, other] = [await addApp(platform, owner), await addApp(platform, owner)]
  for (const each of [app, other]) {
    await give(each, name)
    await register(each, `site:read ${name}`)
  }
  const [token, untouched, grant] = [
    await tokenOf(app, null),
    await tokenOf(other, null),
    await grantFor(app, `site:read ${name}`),
  ]
  expect((await take(app, name)).given).toEqual([])
  expect(await refusalOf(register(app, `site:read ${name}`))).toBe('scope_not_available')
  const isGone = async () => {
    expect(await scopeOfToken(token.accessToken)).toBe('site:read')
    expect(await scopesOfAccess(grant.accessToken)).toEqual(['site:read'])
  }
  await isGone()
  expect(await scopeOfToken(untouched.accessToken)).toContain(name)

  await give(app, name)
  await register(app, `site:read ${name}`)
  await isGone()
  expect((await refreshed(app, grant.refreshToken)).scope).toBe('site:read')
  expect(await scopeOfToken((await tokenOf(app, null)).accessToken)).toContain(name)
})

test('scopes are listed by name in pages, also retired ones', async () => {
  const names = [fresh(), fresh(), fresh()]
  for (const name of names) await add(name, 'user')
  await retire(names[1] ?? '')
  const found: string[] = []
  for (let cursor: string | null = null; ;) {
    const page = await listScopes(platform, { limit: 2, cursor })
    found.push(...page.data.map(({ name }) => name))
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  expect(found).toEqual(found.toSorted())
  for (const name of names) expect(found).toContain(name)
})
