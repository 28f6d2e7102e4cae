import type { Queries } from '../../../db/database.ts'
import { isAppTokenLive, isUserTokenLive } from '../../domain/token.ts'
import { andThen, type Awaitable, handled } from '../../domain/awaitable.ts'
import type { Environment } from '../../domain/app.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { grantEndsAt } from '../../domain/grant.ts'
import { authenticateClient, type ClientCredentials, presentClient, refuseClient } from '../authenticate-client.ts'
import { settle } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { refusalOfUnknown } from '../scopes/scopes.ts'
import {
  findAccessToken,
  findAppToken,
  findEmbeddedSession,
  findRefreshToken,
  parseAnySecret,
  type PresentedSecret,
} from '../find-token.ts'
import { isSecretUseUnrecorded } from '../../domain/credential.ts'
import { recordUse, type AppCaller, type UserCaller } from '../authenticate.ts'
import { refuse } from '../../domain/errors.ts'
import { remembered } from '../../domain/remembered.ts'
import { isResourceKind, type ResourceKind } from '../../domain/resource.ts'
import { isEmbeddedSessionLive } from '../../domain/session.ts'
import { formatScope, isSubset, parseStoredScope, type ScopeName } from '../../domain/scope.ts'

/** What a client is told about its own live token. */
export type TokenFacts = IssuedFacts | PageFacts

type Facts = {
  /** The user who granted it; for an app token, the client. */
  readonly subject: string
  readonly clientId: string
  /** Epoch milliseconds. */
  readonly issuedAt: number
  readonly expiresAt: number
}
type IssuedFacts = Facts & { readonly kind: 'app_token' | 'access_token' | 'refresh_token'; readonly scope: string }
/** The session of a page in a frame, with what it is open for. `id` is the builder's own; null if there is none. */
type PageFacts = Facts & {
  readonly kind: 'embedded_session'
  readonly installId: string
  readonly resource: { readonly kind: ResourceKind; readonly id: string | null }
}

/**
 * Tells a client about a live token that was issued to it (RFC 7662). Every other token gives null, so that they cannot be
 * told apart: malformed, unknown, expired, spent, revoked, of another client, of the app's other environment, of a suspended
 * app or of a disabled user. Reads committed state; writes only a refusal and the time of the last use, to the minute.
 * @throws invalid_client
 */
export const introspect = async (platform: Platform, trace: Trace, credentials: ClientCredentials, text: string) => {
  const { database } = platform
  const now = platform.clock.now()
  const presented = presentClient(credentials)
  const secret = parseAnySecret(text)
  // Both are asked for at once: an engine on another machine answers them together.
  const authenticated = authenticateClient(database.queries, presented, now)
  const found = secret === null ? null : handled(findOwn(platform, secret, now))
  const client = await authenticated
  if (client === null) {
    return await settle(platform, trace, await refuseClient(database.queries, presented, 'token.introspect'), now)
  }
  if (isSecretUseUnrecorded(client, now)) {
    await recordUse(platform, client.credentialId, (q) => q.credentials.touch(client.credentialId, now))
  }
  const token = found === null ? null : await found
  const isOwn = token?.clientId === client.clientId && client.appStatus === 'active'
  return { appId: client.appId, token: isOwn ? token : null }
}

/** What the builder is told beyond that: whose app and user it is, and where the app is installed. */
type BuilderFacts = IssuedFacts & {
  readonly appId: string
  readonly environment: Environment
  /** Null for an app's own token, and for a user that the builder did not send. */
  readonly userExternalId: string | null
  /** Live installs of the app, of this user if there is one: `site:ID` or `store:ID` with the builder's own IDs, sorted. */
  readonly resources: readonly string[]
}

/**
 * Tells the builder about a live token of any app; null for every other token, as above. The caller has a service key with the
 * right to ask.
 */
export const introspectForBuilder = async (platform: Platform, text: string): Promise<BuilderFacts | null> => {
  const { queries: q } = platform.database
  const secret = parseAnySecret(text)
  const token = secret === null ? null : await findLive(q, secret, platform.clock.now(), platform.lifetimes.grant)
  const environment = token === null ? null : environmentOfClientId(token.clientId)
  const found = token === null ? null : await q.apps.byClient(token.clientId)
  if (token === null || environment === null || found === null || found.app.status !== 'active') return null
  const user = token.kind === 'app_token' ? null : await q.users.byId(token.subject)
  const resources = await q.builderInstalls.externalPlaces(found.app.id, user?.id ?? null, mostResources)
  return { ...token, appId: found.app.id, environment, userExternalId: user?.externalId ?? null, resources }
}

/** A live token of any client, also the session of a framed page. */
const findOwn = (platform: Platform, secret: PresentedSecret, now: number): Awaitable<TokenFacts | null> => {
  const { database, lifetimes } = platform
  return secret.kind === 'embeddedSession'
    ? findPage(platform, secret, now)
    : findLive(database.queries, secret, now, lifetimes.grant)
}

const findPage = async (
  { database: { queries: q }, lifetimes }: Platform,
  secret: Parameters<typeof findEmbeddedSession>[1],
  now: number,
): Promise<PageFacts | null> => {
  const row = await findEmbeddedSession(q, secret)
  if (row === null) return null
  const { session, ...state } = row
  if (!isEmbeddedSessionLive({ ...session, ...state }, now, lifetimes.sessionIdle)) return null
  const install = await q.installs.find(session.installId)
  if (install === null) return null
  const { clientId, installId, createdAt: issuedAt, expiresAt } = session
  const resource = { kind: install.kind, id: install.resourceExternalId }
  return { kind: 'embedded_session', subject: state.userId, clientId, installId, resource, issuedAt, expiresAt }
}

/** The most resources in one answer. */
const mostResources = 1_000

/** A live token of any client; of a refresh token, the app's status is not looked at. One read at most: the prefix says what kind of token it is. */
const findLive = (
  q: Queries,
  secret: PresentedSecret,
  now: number,
  grantSeconds: number,
): Awaitable<IssuedFacts | null> => {
  switch (secret.kind) {
    case 'appToken':
      return andThen(findAppToken(q, secret), (row) => {
        if (row === null || !isAppTokenLive(row, now)) return null
        const { clientId, scopes, createdAt, expiresAt } = row
        return { kind: 'app_token', subject: clientId, clientId, scope: scopes, issuedAt: createdAt, expiresAt }
      })
    case 'userAccessToken':
      return andThen(findAccessToken(q, secret), (row) => {
        if (row === null || !isUserTokenLive(row.key, row, now)) return null
        const { clientId, userId, scopes, createdAt, expiresAt } = row
        return { kind: 'access_token', subject: userId, clientId, scope: scopes, issuedAt: createdAt, expiresAt }
      })
    case 'refreshToken':
      return andThen(findRefreshToken(q, secret), (row) => {
        if (row === null) return null
        const { pair, grant, userStatus } = row
        const { createdAt } = pair
        const expiresAt = Math.min(pair.refreshExpiresAt, grantEndsAt(grant, grantSeconds))
        const { currentKey: grantCurrentKey, revokedAt: grantRevokedAt } = grant
        const appStatus = 'active' // `introspect` checks the status, once it is known that the app is the caller's
        // The scope is the grant's, which a refresh can ask for again, even if this pair's access token has less.
        const { clientId, userId, scopes } = grant
        const lostScopes = null // what its grant has lost is not in the grant any more
        const state = { createdAt, expiresAt, grantCurrentKey, grantRevokedAt, userStatus, scopes, lostScopes }
        if (!isUserTokenLive(pair.key, { ...state, appStatus }, now)) return null
        return { kind: 'refresh_token', subject: userId, clientId, scope: scopes, issuedAt: createdAt, expiresAt }
      })
    default:
      return null
  }
}

type Asked = {
  readonly scopes: readonly ScopeName[]
  /** `site:ID` or `store:ID` with the builder's own ID; null for a call that is about none. */
  readonly resource: string | null
  readonly environment: Environment
}

/** Whom a call at the builder's API is for. `userExternalId` is empty for an app's own token, and for a user that the builder did not send. */
export type Access = { readonly appId: string; readonly userExternalId: string; readonly scope: string }

/**
 * Whether a live token allows a call at the builder's own API: environment, scopes, and an install on the resource if one is
 * named. For an app's own token that is any install of the app; for a user's token, one of this user.
 * @throws token_type_not_allowed for a token of the other environment, insufficient_scope, invalid_request, install_required
 */
export const checkAccess = (platform: Platform, caller: AppCaller | UserCaller, asked: Asked): Awaitable<Access> => {
  const environment = caller.kind === 'app' ? caller.environment : environmentOfClientId(caller.clientId)
  if (environment !== asked.environment) throw refuse('token_type_not_allowed', { message: otherEnvironment })
  const scopes = caller.kind === 'app' ? parseStoredScope(caller.scope) : caller.scopes
  if (!isSubset(asked.scopes, scopes)) return refuseLacking(platform, asked.scopes)
  const access = {
    appId: caller.kind === 'app' ? caller.app.id : caller.appId,
    userExternalId: caller.kind === 'app' ? '' : (caller.user.externalId ?? ''),
    scope: written(scopes),
  }
  if (asked.resource === null) return access
  const [kind, externalId] = splitResource(asked.resource)
  if (!isResourceKind(kind) || externalId === '') {
    throw refuse('invalid_request', { param: 'resource', message: resourceForm })
  }
  const userId = caller.kind === 'app' ? null : caller.user.id
  return andThen(
    platform.database.queries.builderInstalls.isOn({ appId: access.appId, environment }, userId, { kind, externalId }),
    (isInstalled) => {
      if (!isInstalled) throw refuse('install_required')
      return access
    },
  )
}

/** @throws insufficient_scope, invalid_scope for one that does not exist */
const refuseLacking = async ({ database }: Platform, scopes: readonly ScopeName[]): Promise<never> => {
  throw (
    (await refusalOfUnknown(database.queries, scopes, 'scope')) ??
    refuse('insufficient_scope', { details: { scope: formatScope(scopes) } })
  )
}

/** Scopes as text. The lists are those that `parseStoredScope` remembers. */
const written = remembered(64, formatScope)

const splitResource = (text: string): readonly [kind: string, externalId: string] => {
  const colon = text.indexOf(':')
  return colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
}

const resourceForm = 'It must be a kind and the builder’s own ID, such as site:17.'

const otherEnvironment =
  'The token belongs to the other environment. Production is expected unless the parameter environment says otherwise.'
