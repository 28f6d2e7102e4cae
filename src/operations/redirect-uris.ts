import type { Client, Queries } from '../../db/database.ts'
import type { Environment } from '../domain/app.ts'
import { maximumRedirectUris, redirectUriFault } from '../domain/registered-url.ts'
import { accessTo } from './acting-as.ts'
import { clientOfApp, findApp } from './apps/app-record.ts'
import { badInput, decide, type Operation, refuseFault } from './decide.ts'
import type { TimeOrder } from './page.ts'
import type { Platform } from './platform.ts'

type RedirectUriChange = {
  readonly slug: string
  readonly environment: Environment
  readonly uri: string
}

/**
 * Registers a redirect URI for one environment of an app. Nothing changes when it is registered there already. Other apps may have
 * the same one: who it belongs to is not decided here, and a code is exchanged only by the client that it was issued to.
 * @throws invalid_request for a URI that is not allowed, or that the app has in its other environment
 */
export const addRedirectUri: Operation<RedirectUriChange, RedirectUris> = async (platform, trace, actor, change) => {
  refuseFault('uri', redirectUriFault(change.uri))
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const client = await clientOfApp(q, (await findApp(q, change.slug)).id, change.environment)
    const before = await redirectUrisOf(q, client.appId)
    const own = before.redirectUris[change.environment]
    if (own.includes(change.uri)) return before
    // Callbacks of development and production are kept separate (spec section 5, point 4).
    if (Object.values(before.redirectUris).flat().includes(change.uri)) return badInput('uri', inOtherEnvironment)
    if (own.length >= maximumRedirectUris) {
      return badInput('uri', `An environment has at most ${maximumRedirectUris} redirect URIs.`)
    }
    await q.redirectUris.insert({ clientId: client.id, uri: change.uri, createdAt: now })
    await record({ action: 'redirect_uri.added', ...factsOf(client, change) })
    return await redirectUrisOf(q, client.appId)
  })
}

const inOtherEnvironment = 'This app has this redirect URI in its other environment. Each environment needs its own.'

/**
 * Removes a redirect URI; it is refused from now on. Nothing changes when it is not registered.
 * @throws invalid_request for an unknown app
 */
export const removeRedirectUri: Operation<RedirectUriChange, RedirectUris> = async (platform, trace, actor, change) => {
  return await decide(platform, trace, { actor, endsAccess: true }, async ({ q, record }) => {
    const client = await clientOfApp(q, (await findApp(q, change.slug)).id, change.environment)
    const isRemoved = await q.redirectUris.remove(client.id, change.uri)
    if (isRemoved) await record({ action: 'redirect_uri.removed', ...factsOf(client, change) })
    return await redirectUrisOf(q, client.appId)
  })
}

/** The audit has the whole URI: it is no secret, and its host alone would not identify it. */
const factsOf = ({ id, appId }: Client, { environment, uri }: RedirectUriChange) => ({
  appId,
  environment,
  target: id,
  detail: { uri },
})

type RedirectUris = { readonly redirectUris: Readonly<Record<Environment, readonly string[]>> }

/** Alphabetical, or by the time of registration; those of one moment are alphabetical. */
type UriOrder = 'address' | TimeOrder

/**
 * The redirect URIs of an app.
 * @throws invalid_request for an unknown slug
 */
export const listRedirectUris = async (platform: Platform, slug: string, order?: UriOrder): Promise<RedirectUris> => {
  const q = platform.database.queries
  return await redirectUrisOf(q, (await findApp(q, slug)).id, order)
}

/**
 * The app of a client, and in which environment, for a member whose request named another redirect URI than is registered. Null for
 * everybody else, as for a client that does not exist.
 */
export const clientForMember = async (
  { database: { queries: q } }: Platform,
  userId: string,
  { clientId, redirectUri }: { readonly clientId: string; readonly redirectUri: string },
) => {
  const found = await q.apps.byClient(clientId)
  if (found === null || (await accessTo(q, found.app.slug, userId, 'member')) === null) return null
  const { app, client } = found
  const rows = await q.redirectUris.listByApp(app.id)
  return {
    slug: app.slug,
    name: app.name,
    environment: client.environment,
    /** Whether the app has the URI in its other environment. */
    registeredElsewhere: rows.some(({ environment, uri }) => environment !== client.environment && uri === redirectUri),
  }
}

/** The redirect URIs of an app per environment. */
export const redirectUrisOf = async (q: Queries, appId: string, order: UriOrder = 'address'): Promise<RedirectUris> => {
  const rows = await q.redirectUris.listByApp(appId)
  const sign = order === 'newest' ? -1 : 1
  const all = order === 'address' ? rows : rows.toSorted((a, b) => sign * (a.createdAt - b.createdAt))
  const of = (wanted: Environment) => all.filter((row) => row.environment === wanted).map((row) => row.uri)
  return { redirectUris: { development: of('development'), production: of('production') } }
}
