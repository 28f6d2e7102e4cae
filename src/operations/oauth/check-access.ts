import type { Environment } from '../../domain/app.ts'
import { andThen, type Awaitable } from '../../domain/awaitable.ts'
import { refuse } from '../../domain/errors.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { remembered } from '../../domain/remembered.ts'
import { isResourceKind } from '../../domain/resource.ts'
import { formatScope, isSubset, parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import type { AppCaller, UserCaller } from '../authenticate.ts'
import type { Platform } from '../platform.ts'

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
  if (!isSubset(asked.scopes, scopes)) {
    throw refuse('insufficient_scope', { details: { scope: formatScope(asked.scopes) } })
  }
  const access = {
    appId: caller.kind === 'app' ? caller.app.id : caller.appId,
    userExternalId: caller.kind === 'app' ? '' : (caller.user.externalId ?? ''),
    scope: written(scopes),
  }
  if (asked.resource === null) return access
  const [kind, externalId] = splitResource(asked.resource)
  if (!isResourceKind(kind) || externalId === '') throw refuse('invalid_request', { param: 'resource' })
  const userId = caller.kind === 'app' ? null : caller.user.id
  return andThen(
    platform.database.queries.builderInstalls.isOn(access.appId, userId, { kind, externalId }),
    (isInstalled) => {
      if (!isInstalled) throw refuse('install_required')
      return access
    },
  )
}

/** Scopes as text. The lists are those that `parseStoredScope` remembers. */
const written = remembered(64, formatScope)

const splitResource = (text: string): readonly [kind: string, externalId: string] => {
  const colon = text.indexOf(':')
  return colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
}

const otherEnvironment =
  'The token belongs to the other environment. Production is expected unless the parameter environment says otherwise.'
