import type { Queries } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { findApp } from '../apps/find-app.ts'
import type { Platform } from '../platform.ts'

export type RedirectUris = { readonly redirectUris: Readonly<Record<Environment, readonly string[]>> }

/**
 * What is registered for an app.
 * @throws invalid_request for an unknown slug
 */
export const listRedirectUris = async (platform: Platform, slug: string): Promise<RedirectUris> => {
  const q = platform.database.queries
  return await redirectUrisOf(q, (await findApp(q, slug)).id)
}

/** What is registered for an app, per environment, in the order of the text. */
export const redirectUrisOf = async (q: Queries, appId: string): Promise<RedirectUris> => {
  const all = await q.redirectUris.listByApp(appId)
  const of = (wanted: Environment) => all.filter((row) => row.environment === wanted).map((row) => row.uri)
  return { redirectUris: { development: of('development'), production: of('production') } }
}
