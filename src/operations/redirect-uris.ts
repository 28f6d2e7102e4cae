import type { Client, Queries } from '../../db/database.ts'
import type { Environment } from '../domain/app.ts'
import { maximumRedirectUris, redirectUriFault } from '../domain/registered-url.ts'
import { clientOfApp, findApp } from './apps/app-record.ts'
import { auditEvent, auditStamp } from './audit/event.ts'
import { badInput, decide, done, type Operation, refused } from './decision.ts'
import type { Platform } from './platform.ts'

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
  const now = platform.clock.now()
  const stamp = auditStamp(platform, trace, now)
  return await decide(platform.database, async (q) => {
    const client = await clientOfApp(q, (await findApp(q, change.slug)).id, change.environment)
    const registered = await q.redirectUris.find(change.uri)
    if (registered !== null && registered.clientId !== client.id) {
      return refused(badInput('uri', 'This redirect URI belongs to another app or environment.'))
    }
    if (registered === null) {
      if ((await q.redirectUris.countOfClient(client.id)) >= maximumRedirectUris) {
        return refused(badInput('uri', `An environment has at most ${maximumRedirectUris} redirect URIs.`))
      }
      await q.redirectUris.insert({ uri: change.uri, clientId: client.id, createdAt: now })
      await q.audit.insert(auditEvent(stamp, { actor, action: 'redirect_uri.added', ...factsOf(client, change) }))
    }
    return done(await redirectUrisOf(q, client.appId))
  })
}

/**
 * Removes a redirect URI; it is refused from now on. Nothing changes when it is not registered.
 * @throws invalid_request for an unknown app
 */
export const removeRedirectUri: Operation<RedirectUriChange, RedirectUris> = async (platform, trace, actor, change) => {
  const stamp = auditStamp(platform, trace, platform.clock.now())
  return await decide(platform.database, async (q) => {
    const client = await clientOfApp(q, (await findApp(q, change.slug)).id, change.environment)
    if (await q.redirectUris.remove(change.uri, client.id)) {
      await q.audit.insert(auditEvent(stamp, { actor, action: 'redirect_uri.removed', ...factsOf(client, change) }))
    }
    return done(await redirectUrisOf(q, client.appId))
  })
}

/** The audit has the whole URI: it is no secret, and its host alone would not identify it. */
const factsOf = ({ id, appId }: Client, { environment, uri }: RedirectUriChange) => ({
  appId,
  environment,
  target: id,
  detail: { uri },
})

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
