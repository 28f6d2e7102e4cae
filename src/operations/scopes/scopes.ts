// The operator's own scopes: adding and retiring them, giving restricted ones to apps, and what the store knows of them.
import type { App, OwnScopeRow, Queries } from '../../../db/database.ts'
import type { Awaitable } from '../../domain/awaitable.ts'
import { typedName } from '../../domain/entered-name.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { pick } from '../../domain/pick.ts'
import {
  catalogueWith,
  formatScope,
  isSubset,
  maximumOwnScopes,
  notAllowed,
  ownAmong,
  ownScopeFault,
  type OwnScopeUse,
  parseStoredScope,
  type ScopeCatalogue,
  type ScopeName,
  scopeWords,
  unionOf,
  usableBy,
  withoutScopes,
} from '../../domain/scope.ts'
import { findApp } from '../apps/app-record.ts'
import { badInput, decide, type OpenChange, type Operation, refusalOfFaults } from '../decide.ts'
import { listPage, type ListPage, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'

/** One of the operator's own scopes. */
export type OwnScopeRecord = ReturnType<typeof scopeRecord>

const scopeRecord = (row: OwnScopeRow) => ({
  ...pick(row, 'name'),
  for: row.usableBy,
  text: row.words,
  restricted: row.isRestricted,
  ...pick(row, 'createdAt', 'retiredAt'),
})

/** All scopes of the server. Ask for it anew for every page and change: an operator may add or retire one at any time. */
export const readCatalogue = async ({ database }: Pick<Platform, 'database'>): Promise<ScopeCatalogue> =>
  await catalogueIn(database.queries)

const catalogueIn = async (q: Queries): Promise<ScopeCatalogue> => catalogueWith(await q.scopes.live())

type NewScope = {
  readonly name: string
  readonly usableBy: OwnScopeUse
  /** What it allows, as consent pages say it. */
  readonly text: string
  /** Whether an operator has to give it to an app first. Null: if app tokens can have it. */
  readonly isRestricted: boolean | null
}

/**
 * Adds a scope. What is said of it never changes: a scope that exists with the very same facts is left as it is, and the name of a
 * retired one is never used again.
 * @throws invalid_request
 */
export const addScope: Operation<NewScope, { readonly scope: OwnScopeRecord; readonly created: boolean }> = async (
  platform,
  trace,
  actor,
  input,
) => {
  const { name: words, fault: textFault } = typedName(input.text, 'text')
  const refusal = refusalOfFaults({ name: ownScopeFault(input.name), text: textFault })
  if (refusal !== null) throw refusal
  const isRestricted = input.isRestricted ?? input.usableBy !== 'user'
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const found = await q.scopes.find(input.name)
    if (found !== null) {
      if (found.retiredAt !== null) return badInput('name', retiredBefore)
      const isSame = found.usableBy === input.usableBy && found.words === words && found.isRestricted === isRestricted
      return isSame ? { scope: scopeRecord(found), created: false } : badInput('name', existsOtherwise)
    }
    if ((await q.scopes.countLive()) >= maximumOwnScopes) {
      return badInput('name', `There are ${maximumOwnScopes} scopes already. Retire one first.`)
    }
    const { name, usableBy: use } = input
    const row: OwnScopeRow = { name, usableBy: use, words, isRestricted, createdAt: now, retiredAt: null }
    await q.scopes.insert(row)
    await record({ action: 'scope.added', target: name, detail: { scope: name, for: use, restricted: isRestricted } })
    return { scope: scopeRecord(row), created: true }
  })
}

const retiredBefore = 'A scope of this name was retired. The name is never used again.'
const existsOtherwise =
  'This scope exists. What is said of a scope cannot change: retire it and add one of another name.'

/** How many apps and installs had a scope that is gone, how many grants lost it, and how many had no other and have ended. */
type LostScope = {
  readonly scope: OwnScopeRecord
  readonly apps: number
  readonly installs: number
  readonly grants: number
  readonly endedGrants: number
}

/**
 * Retires a scope for good: no app has it any more, and neither has anything that was issued. A grant without another scope ends. One
 * transaction does all of it, and tokens are checked by what it writes.
 * @throws invalid_request for an unknown scope
 */
export const retireScope: Operation<string, LostScope> = async (platform, trace, actor, name) =>
  await decide(platform, trace, { actor, endsAccess: true, isLong: true }, async (change) => {
    const { q, now, record } = change
    const found = await q.scopes.find(name)
    if (found === null) return unknownName()
    if (!(await q.scopes.retire(name, now))) {
      return { scope: scopeRecord(found), apps: 0, installs: 0, grants: 0, endedGrants: 0 }
    }
    const lost = await loseScope(change, name, null)
    await record({ action: 'scope.retired', target: name, detail: { scope: name, ...lost } })
    return { scope: scopeRecord({ ...found, retiredAt: now }), ...lost }
  })

/**
 * Takes a scope from one app or, for null, from every app, and from all that was issued to them. Events come last, as wherever access
 * ends. An app that had only been given the scope has nothing to lose, and hears nothing.
 */
const loseScope = async ({ q, now, record }: OpenChange, name: string, appId: string | null) => {
  const apps = await q.scopes.takeFromApps(name, appId, now)
  const appIds = apps.map(({ id }) => id)
  const installs = await q.scopes.takeFromInstalls(name, appIds, now)
  const { ended, changed } = await q.scopes.takeFromGrants(name, appIds, now)
  for (const { id, appId: of, clientId, userId } of ended) {
    const environment = environmentOfClientId(clientId)
    await record({ action: 'grant.revoked', appId: of, environment, target: id, told: { userId } })
  }
  const registered = apps.filter(({ scopes }) => scopeWords(scopes).includes(name))
  for (const { id } of registered) {
    const detail = { added: [], withdrawn: [name] }
    await record({ action: 'app.scopes_changed', appId: id, target: id, detail })
  }
  return { apps: registered.length, installs, grants: changed, endedGrants: ended.length }
}

const unknownName = () => badInput('name', 'There is no such scope of the operator.')

/** @throws record_not_found for a scope or an app that does not exist, or a deleted app */
export const requireKnown = async (
  { database: { queries: q } }: Platform,
  { name, slug = null }: { readonly name: string; readonly slug?: string | null },
): Promise<void> => {
  if ((await q.scopes.find(name)) === null) throw refuse('record_not_found', { param: 'name' })
  const app = slug === null ? null : await q.apps.bySlug(slug)
  if (slug !== null && app?.deletedAt !== null) throw refuse('record_not_found', { param: 'app' })
}

type ScopeOfApp = { readonly name: string; readonly slug: string }

/**
 * Lets an app register a restricted scope. It does not register it.
 * @throws invalid_request for an unknown, retired or unrestricted scope, or an unknown app
 */
export const giveScope: Operation<ScopeOfApp, GivenScopes> = async (platform, trace, actor, { name, slug }) =>
  await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const app = await findApp(q, slug)
    const scope = await q.scopes.find(name)
    if (scope === null || scope.retiredAt !== null) return unknownName()
    if (!scope.isRestricted) return badInput('name', 'This scope is not restricted: every app can register it.')
    if (scopeWords(app.givenScopes).includes(name)) return givenRecord(app, app.givenScopes)
    const givenScopes = withScope(app.givenScopes, name)
    // It was taken from this app before. Tokens of that time do not get it back.
    const isBack = scopeWords(app.lostScopes ?? '').includes(name)
    if (isBack) await q.scopes.takeFromTokens(name, app.id)
    const lostScopes = isBack ? withoutScopes(app.lostScopes ?? '', name) || null : app.lostScopes
    await q.apps.change(app.id, { givenScopes, lostScopes }, now)
    await record({ action: 'scope.given', appId: app.id, target: name, detail: { scope: name } })
    return givenRecord(app, givenScopes)
  })

/**
 * Takes a restricted scope back from an app, as if it were retired for this app alone.
 * @throws invalid_request for an unknown scope, or an unknown app
 */
export const takeScope: Operation<ScopeOfApp, GivenScopes> = async (platform, trace, actor, { name, slug }) =>
  await decide(platform, trace, { actor, endsAccess: true, isLong: true }, async (change) => {
    const { q, record } = change
    const app = await findApp(q, slug)
    if ((await q.scopes.find(name)) === null) return unknownName()
    if (!scopeWords(app.givenScopes).includes(name)) return givenRecord(app, app.givenScopes)
    const { apps: _, ...lost } = await loseScope(change, name, app.id)
    await record({ action: 'scope.taken', appId: app.id, target: name, detail: { scope: name, ...lost } })
    return givenRecord(app, withoutScopes(app.givenScopes, name))
  })

/** The restricted scopes that an app may register. */
export type GivenScopes = ReturnType<typeof givenRecord>

const givenRecord = ({ id, slug }: App, given: string) => ({ appId: id, app: slug, given: parseStoredScope(given) })

const withScope = (stored: string, name: string): string => scopeWords(`${stored} ${name}`).toSorted().join(' ')

/** The operator's own scopes by name, also retired ones. */
export const listScopes = async ({ database }: Platform, page: PageRequest): Promise<ListPage<OwnScopeRecord>> =>
  await listPage(
    page,
    (cursor) => cursor ?? '',
    async (place, rows) => (await database.queries.scopes.list(place, rows)).map(scopeRecord),
    ({ name }) => name,
  )

export const countScopes = async ({ database }: Platform): Promise<number> => await database.queries.scopes.count()

/** Null for a scope that was never added. */
export const findScope = async ({ database }: Platform, name: string): Promise<OwnScopeRecord | null> => {
  const found = await database.queries.scopes.find(name)
  return found === null ? null : scopeRecord(found)
}

/** The slugs of the apps that registered a scope or were given it (at most 100 of each), and how much retiring it would change. */
export const scopeReach = async ({ database }: Platform, name: string) => {
  const q = database.queries.scopes
  const apps = await q.appsWith(name)
  const slugsOf = (has: (app: App) => string) =>
    apps
      .filter((app) => scopeWords(has(app)).includes(name))
      .map(({ slug }) => slug)
      .slice(0, mostSlugs)
  return {
    registered: slugsOf(({ scopes }) => scopes),
    given: slugsOf(({ givenScopes }) => givenScopes),
    apps: apps.filter(({ scopes }) => scopeWords(scopes).includes(name)).length,
    ...(await q.countGrants(
      name,
      apps.map(({ id }) => id),
    )),
  }
}

const mostSlugs = 100

/** What an app may register, for the row of the app; or why it may not. `app` is null for a new one. */
export const registration = async (
  q: Queries,
  app: App | null,
  asked: readonly ScopeName[],
): Promise<Pick<App, 'scopes' | 'tokenScopes' | 'heldScopes'> | PlatformError> => {
  const catalogue = await catalogueIn(q)
  const own = ownAmong(asked)
  if (!own.every((name) => catalogue.has(name))) return badInput('scopes', noSuchScope)
  const given = scopeWords(app?.givenScopes ?? '')
  const held = own.find((name) => catalogue.get(name)?.availability === 'restricted' && !given.includes(name))
  if (held !== undefined) return notGiven(held, 'scopes')
  return {
    scopes: formatScope(asked),
    tokenScopes: formatScope(usableBy('app', asked, catalogue)),
    heldScopes: formatScope(unionOf([parseStoredScope(app?.heldScopes ?? ''), own])),
  }
}

const notGiven = (name: ScopeName, param: string): PlatformError =>
  refuse('scope_not_available', {
    param,
    message: `The scope ${name} is restricted: an operator has to give it to the app first.`,
  })

const noSuchScope = 'A scope in the list does not exist, or was retired.'

/**
 * The refusal of scopes that are not all among those allowed; null if they are. Only one that is not makes the store tell the reasons
 * apart: it does not exist, it is restricted, or the app may not ask for it.
 */
export const refusalBeyond = (
  q: Queries,
  appId: string,
  asked: readonly ScopeName[],
  allowed: readonly ScopeName[],
  param: string,
): Awaitable<PlatformError | null> => (isSubset(asked, allowed) ? null : reasonBeyond(q, appId, asked, allowed, param))

const reasonBeyond = async (
  q: Queries,
  appId: string,
  asked: readonly ScopeName[],
  allowed: readonly ScopeName[],
  param: string,
): Promise<PlatformError | null> => {
  const beyond = asked.filter((name) => !allowed.includes(name))
  const unknown = await refusalOfUnknown(q, beyond, param)
  if (unknown !== null) return unknown
  const given = scopeWords((await q.apps.byId(appId))?.givenScopes ?? '')
  for (const name of ownAmong(beyond)) {
    if ((await q.scopes.find(name))?.isRestricted === true && !given.includes(name)) return notGiven(name, param)
  }
  const [first] = beyond
  return first === undefined ? null : notAllowed(first, param)
}

/** The refusal of scopes of which one was never added or has been retired; null if all exist. */
export const refusalOfUnknown = async (
  q: Queries,
  scopes: readonly ScopeName[],
  param: string,
): Promise<PlatformError | null> => {
  for (const name of ownAmong(scopes)) {
    const found = await q.scopes.find(name)
    if (found === null || found.retiredAt !== null) return refuse('invalid_scope', { param, message: noSuchScope })
  }
  return null
}

/** Those of the operator's own scopes that users can be asked for. On PostgreSQL none of them is retired until the transaction ends. */
export const ownForUsers = async (q: Queries, names: readonly ScopeName[]): Promise<readonly ScopeName[]> => {
  const usable: ScopeName[] = []
  for (const name of names) {
    const found = await q.scopes.find(name)
    if (found !== null && found.retiredAt === null && found.usableBy !== 'app') usable.push(name)
  }
  return usable
}
