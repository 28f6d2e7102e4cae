import type { Queries } from '../../db/database.ts'
import type { Environment } from '../domain/app.ts'
import { maximumRedirectUris, redirectUriFault } from '../domain/registered-url.ts'
import { findApp } from './apps/app-record.ts'
import { type Actor, auditEvent, auditStamp } from './audit/event.ts'
import { badInput, decide, done, type Operation, refused } from './decision.ts'
import type { Platform, Trace } from './platform.ts'

type RedirectUriChange = {
  readonly slug: string
  readonly environment: Environment
  readonly uri: string
}

/**
 * Registers a redirect URI for one environment of an app. Nothing changes when it is registered there already.
 * @throws invalid_request for a URI that is not allowed, or that belongs to another app or environment
 */
export const addRedirectUri: Operation<RedirectUriChange, RedirectUris> = async (platform, trace, actor, change) => {
  const fault = redirectUriFault(change.uri)
  if (fault !== null) throw badInput('uri', fault)
  return await changeRedirectUris(platform, trace, actor, change, 'redirect_uri.added')
}

/**
 * Removes a redirect URI; it is refused from now on. Nothing changes when it is not registered.
 * @throws invalid_request for an unknown app
 */
export const removeRedirectUri: Operation<RedirectUriChange, RedirectUris> = async (platform, trace, actor, change) =>
  await changeRedirectUris(platform, trace, actor, change, 'redirect_uri.removed')

const changeRedirectUris = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  { slug, environment, uri }: RedirectUriChange,
  action: 'redirect_uri.added' | 'redirect_uri.removed',
): Promise<RedirectUris> => {
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const app = await findApp(q, slug)
    const client = (await q.apps.clientsOf(app.id)).find((candidate) => candidate.environment === environment)
    if (client === undefined) return refused(badInput('environment', 'The app has no client in this environment.'))
    const registered = await q.redirectUris.find(uri)
    if (action === 'redirect_uri.added' && registered !== null && registered.clientId !== client.id) {
      return refused(badInput('uri', 'This redirect URI belongs to another app or environment.'))
    }
    if (
      action === 'redirect_uri.added' &&
      registered === null &&
      (await q.redirectUris.countOfClient(client.id)) >= maximumRedirectUris
    ) {
      return refused(badInput('uri', `An environment has at most ${maximumRedirectUris} redirect URIs.`))
    }
    const changed = action === 'redirect_uri.added' ? registered === null : await q.redirectUris.remove(uri, client.id)
    if (changed) {
      if (action === 'redirect_uri.added') await q.redirectUris.insert({ uri, clientId: client.id, createdAt: now })
      const detail = { uri } // a URI is no secret, and its host alone would not identify it
      await q.audit.insert(auditEvent(stamp, { actor, action, appId: app.id, environment, target: client.id, detail }))
    }
    return done(await redirectUrisOf(q, app.id))
  })
}

export type RedirectUris = { readonly redirectUris: Readonly<Record<Environment, readonly string[]>> }

/**
 * The redirect URIs of an app.
 * @throws invalid_request for an unknown slug
 */
export const listRedirectUris = async (platform: Platform, slug: string): Promise<RedirectUris> => {
  const q = platform.database.queries
  return await redirectUrisOf(q, (await findApp(q, slug)).id)
}

/** The redirect URIs of an app per environment, in alphabetical order. */
export const redirectUrisOf = async (q: Queries, appId: string): Promise<RedirectUris> => {
  const all = await q.redirectUris.listByApp(appId)
  const of = (wanted: Environment) => all.filter((row) => row.environment === wanted).map((row) => row.uri)
  return { redirectUris: { development: of('development'), production: of('production') } }
}
