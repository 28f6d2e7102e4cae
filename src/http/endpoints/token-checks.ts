/** What the builder's own API asks about the tokens that apps present to it, and OpenID Connect's answer about a user. */
import { Type } from '@sinclair/typebox'
import { environments } from '../../domain/app.ts'
import { andThen } from '../../domain/awaitable.ts'
import { refuse } from '../../domain/errors.ts'
import { parseScope } from '../../domain/scope.ts'
import type { UserCaller } from '../../operations/authenticate.ts'
import { checkAccess } from '../../operations/oauth/introspect.ts'
import { type BearerCaller, requireBearer, takeShareOf } from '../bearer.ts'
import { object, oneOf, recordId, scope, text, model } from '../contract/fields.ts'
import { endpoint, type Guard, ignoredBody, onlyQueryOf } from '../endpoint.ts'
import { checkPath, userInfoPath } from '../paths.ts'

/** A live token of an app, or of a user who granted it to an app. */
const tokenOfApp: Guard<BearerCaller> = {
  callers: ['appToken', 'userToken'],
  errors: ['invalid_token', 'token_type_not_allowed', 'origin_not_allowed'],
  admit: (door, call) =>
    andThen(requireBearer(door, call, 'invalid_token'), (caller) => {
      if (caller.kind !== 'app' && caller.kind !== 'user') throw refuse('token_type_not_allowed')
      // A share of its own: what an app asks of the builder must not use up what it may ask here.
      takeShareOf(door, call, caller, 'read', 'check ')
      return caller
    }),
}

const checkQuery = object('What the call needs.', {
  scope,
  resource: Type.Optional(
    text("The website or store that the call is about: its kind and the builder's own ID.", 'site:42'),
  ),
  environment: Type.Optional(oneOf(environments, 'Whose tokens pass; production unless stated.', 'production')),
})

/**
 * A guard whose `resource` is misspelt must not pass, so a parameter that there is not is refused.
 *
 * For `auth_request` of nginx, `forward_auth` of Caddy and ForwardAuth of Traefik. Says who calls in headers that are always
 * there, so that a caller's own headers of these names never reach the API behind.
 */
export const checkToken = endpoint({
  method: 'GET',
  path: checkPath,
  caller: tokenOfApp,
  query: onlyQueryOf(checkQuery),
  answers: { 204: Type.Void() },
  valueHeaders: ['x-app-id', 'x-user-external-id', 'x-scope'],
  errors: ['invalid_scope', 'insufficient_scope', 'scope_not_available', 'install_required'],
  details: {
    id: 'checkToken',
    summary: 'Check the token that an app presents to your API',
    description:
      'Answers 204 with `X-App-Id`, `X-User-External-Id` and `X-Scope` if the token is live and has the scopes; 401 or 403 otherwise. For guards of proxies.',
    tag: 'Token checks',
  },
  isHot: true,
  run: (door, call, { caller, query }) => {
    const parsed = parseScope(query.scope)
    if (parsed.kind === 'refused') throw refuse(parsed.code, { param: 'scope', message: parsed.message })
    if (caller.kind !== 'app' && caller.kind !== 'user') throw refuse('token_type_not_allowed')
    const asked = {
      scopes: parsed.scopes,
      resource: query.resource ?? null,
      environment: query.environment ?? 'production',
    }
    return andThen(checkAccess(door.platform, caller, asked), ({ appId, userExternalId, scope: granted }) => {
      call.status = 204
      call.headers = { 'x-app-id': appId, 'x-user-external-id': userExternalId, 'x-scope': granted }
    })
  },
})

const userInfoAnswer = model('UserInfo', 'The signed-in user.', {
  sub: recordId('usr', 'ID of the user.'),
  name: Type.Optional(text('With the scope profile:read.', 'Ada Example')),
  email: Type.Optional(text('With the scope profile.email:read.', 'ada@example.com')),
  picture: Type.Optional(text('With the scope profile:read, if the user has one.', 'https://example.com/ada.png')),
})

const tokenOfUser: Guard<UserCaller> = {
  callers: ['userToken'],
  errors: ['invalid_token', 'token_type_not_allowed'],
  admit: (door, call) =>
    andThen(requireBearer(door, call, 'invalid_token'), (caller) => {
      if (caller.kind !== 'user') throw refuse('token_type_not_allowed')
      takeShareOf(door, call, caller, 'read')
      return caller
    }),
}

const identityOf = ({ user, scopes }: UserCaller) => ({
  sub: user.id,
  ...(scopes.includes('profile:read') ? { name: user.name } : {}),
  ...(scopes.includes('profile:read') && user.pictureUrl !== null ? { picture: user.pictureUrl } : {}),
  ...(scopes.includes('profile.email:read') ? { email: user.email } : {}),
})

const userInfo = (method: 'GET' | 'POST', id: string) =>
  endpoint({
    method,
    path: userInfoPath,
    caller: tokenOfUser,
    ...(method === 'POST' ? { body: ignoredBody } : {}),
    answers: { 200: userInfoAnswer },
    details: {
      id,
      summary: 'The signed-in user, as OpenID Connect names them',
      description:
        '`sub` always; `name` and `picture` with profile:read, `email` with profile.email:read (OpenID Connect Core section 5.3).',
      tag: 'Standard OAuth',
    },
    isCrossOrigin: true,
    run: (_, __, { caller }) => identityOf(caller),
  })

export const readUserInfo = userInfo('GET', 'readUserInfo')
export const askUserInfo = userInfo('POST', 'askUserInfo')
