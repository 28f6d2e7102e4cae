import type { Environment } from '../../../domain/app.ts'
import { type ScopeName, scopesFor } from '../../../domain/scope.ts'
import type { OwnedApp } from '../../../operations/apps/app-record.ts'

/** What the lines of a first call are filled in with. A secret is not among it: nobody but the developer has one. */
export type CallFacts = {
  readonly base: string
  readonly clientId: string
  /** Where users come back to; null when none is registered. */
  readonly redirectUri: string | null
  readonly appScope: string
  readonly userScope: string
}

/** The facts of one environment. `base` is the public URL of this server. */
export const callFacts = (
  base: string,
  app: OwnedApp,
  environment: Environment,
  redirectUris: readonly string[],
): CallFacts => ({
  base,
  clientId: app.clientIds[environment],
  redirectUri: redirectUris[0] ?? null,
  appScope: within(app.scopes, scopesFor('app')),
  userScope: within(app.scopes, scopesFor('user')),
})

const within = (scopes: readonly ScopeName[], allowed: readonly ScopeName[]): string =>
  scopes.filter((scope) => allowed.includes(scope)).join(' ')
