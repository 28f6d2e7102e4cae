import { type Static, Type } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import { formatScope } from '../../domain/scope.ts'
import type { EmbeddedCaller, UserCaller } from '../../operations/authenticate.ts'
import { authorize } from '../../operations/oauth/authorize.ts'
import { revokeByClient, revokeByToken, revokeByUser } from '../../operations/oauth/revoke.ts'
import { bearer, type BearerCaller, requireBearer, userOrPageOf } from '../bearer.ts'
import { hasCookie } from '../cookies.ts'
import { withClientLimits } from '../limits.ts'
import * as contract from '../contract/oauth.ts'
import { endpoint, type Guard, jsonBody } from '../endpoint.ts'
import { contractPath } from '../paths.ts'
import { requireSession, signedInUser } from '../session-cookie.ts'
import { wireTime } from '../wire.ts'
import { type GrantRequest, issueByGrant } from './grants.ts'

export const recordConsent = endpoint({
  method: 'POST',
  path: `${contractPath}/oauth/authorize`,
  caller: signedInUser,
  share: 'authorize',
  body: jsonBody(contract.authorizeRequest),
  answers: { 200: contract.authorizeResponse },
  errors: [
    'invalid_redirect_uri',
    'unsupported_code_challenge_method',
    'invalid_scope',
    'invalid_client',
    'consent_required',
    'scope_not_allowed',
    'scope_not_available',
    'app_inactive',
  ],
  details: {
    id: 'authorize',
    summary: 'Record user consent and obtain an authorization code',
    description:
      'Called by the signed-in user: a session token, or the session cookie with proof of the same origin. Every call with consent makes a new grant.',
    tag: 'OAuth',
  },
  run: async (door, call, { caller, body }) => {
    const { notes } = call
    notes.clientId = body.clientId
    const granted = await authorize(door.platform, call, caller, body, body.consent === true)
    notes.appId = granted.appId
    notes.grantId = granted.grantId
    door.platform.observe.issued('authorization_code')
    return {
      code: granted.code,
      state: granted.state,
      redirectUri: granted.redirectUri,
      redirectTo: granted.redirectTo,
      scope: granted.scope,
      expiresIn: granted.expiresInSeconds,
    }
  },
})

export const issueUserTokens = endpoint({
  method: 'POST',
  path: `${contractPath}/oauth/token`,
  body: jsonBody(contract.tokenRequest, contract.documentedTokenRequest),
  answers: { 200: contract.tokenResponse },
  errors: ['unsupported_grant_type', 'invalid_scope', 'invalid_client', 'invalid_grant', 'app_inactive'],
  details: {
    id: 'issueUserTokens',
    summary: 'Exchange a code, or refresh, for tokens',
    description:
      'A code and a refresh token are single use; one presented again ends its whole grant. With an Idempotency-Key the same request may be repeated for a minute and gets the very same tokens. A refresh without a key may be repeated for ten seconds by default, with the same scopes, until the new refresh token is used.',
    tag: 'OAuth',
    repeatable: true,
  },
  isHot: true,
  run: async (door, call, { body }) => {
    const issued = await issueByGrant(door, call, grantRequestOf(body))
    return {
      accessToken: issued.accessToken,
      tokenType: 'Bearer',
      expiresIn: issued.expiresInSeconds,
      refreshToken: issued.refreshToken,
      refreshTokenExpiresIn: issued.refreshTokenExpiresInSeconds,
      scope: issued.scope,
      grantId: issued.grantId,
    }
  },
})

type TokenBody = Static<typeof contract.tokenRequest>

const grantRequestOf = (body: TokenBody): GrantRequest => {
  const { grantType, clientId, clientSecret } = body
  switch (grantType) {
    case 'authorization_code': {
      const code = needed(body, 'code')
      const redirectUri = needed(body, 'redirectUri')
      const codeVerifier = needed(body, 'codeVerifier')
      return { grantType, clientId, clientSecret, code, redirectUri, codeVerifier }
    }
    case 'refresh_token':
      return {
        grantType,
        clientId,
        clientSecret,
        refreshToken: needed(body, 'refreshToken'),
        scope: body.scope ?? null,
      }
    default:
      throw refuse('unsupported_grant_type', { param: 'grantType' })
  }
}

const needed = (body: TokenBody, field: 'code' | 'redirectUri' | 'codeVerifier' | 'refreshToken'): string => {
  const value = body[field]
  if (value === undefined) {
    throw refuse('invalid_request', { param: field, message: `The grant type ${body.grantType} needs it.` })
  }
  return value
}

export const identifyUser = endpoint({
  method: 'GET',
  path: `${contractPath}/oauth/me`,
  caller: bearer('userToken', 'embeddedSession'),
  share: 'read',
  answers: {
    200: Type.Union([contract.userIdentity, contract.embeddedIdentity], {
      description: 'The signed-in user, as far as the scopes allow.',
    }),
  },
  details: {
    id: 'identifyUser',
    summary: 'Identity of the signed-in user',
    description:
      'Name and picture with profile:read, the email address with profile.email:read. The session of an app in a frame is answered `installId` in the place of `grantId`.',
    tag: 'OAuth',
  },
  isCrossOrigin: true,
  run: (_, __, received) => {
    const caller = userOrPageOf(received.caller)
    const identity = identityOf(caller)
    return caller.kind === 'embedded'
      ? { ...identity, installId: caller.installId }
      : { ...identity, grantId: caller.grantId }
  },
})

const identityOf = ({ user, scopes, appId, clientId, expiresAt }: UserCaller | EmbeddedCaller) => ({
  id: user.id,
  appId,
  clientId,
  scope: formatScope(scopes),
  expiresAt: wireTime(expiresAt),
  ...(scopes.includes('profile:read') ? { name: user.name, pictureUrl: user.pictureUrl } : {}),
  ...(scopes.includes('profile.email:read') ? { email: user.email } : {}),
})

/** A bearer token or a session; null if only the body can tell who calls. */
const clientTokenOrUser: Guard<BearerCaller | null> = {
  callers: ['none', 'appToken', 'userToken', 'session'],
  errors: ['invalid_client', 'invalid_token', 'login_required', 'origin_not_allowed', 'token_type_not_allowed'],
  admit: (door, call) => {
    if (call.authorization.kind !== 'none') return requireBearer(door, call, 'invalid_token')
    return hasCookie(door, call.request, 'session') ? requireSession(door, call) : null
  },
}

export const revoke = endpoint({
  method: 'POST',
  path: `${contractPath}/oauth/revoke`,
  caller: clientTokenOrUser,
  body: jsonBody(contract.revokeRequest),
  answers: { 200: contract.revokeResponse },
  errors: ['token_not_owned', 'grant_not_found'],
  details: {
    id: 'revoke',
    summary: 'Revoke a user grant or an app token',
    description:
      'An app sends its credentials and a token; a token revokes itself with an empty object; a signed-in user sends a grant ID. Any token of a grant ends the whole grant. Once answered, nothing of it works again.',
    tag: 'OAuth',
  },
  run: async (door, call, { caller, body }) => {
    if (caller === null) {
      const { clientId, clientSecret, token } = body
      if (clientId === undefined || clientSecret === undefined) throw refuse('invalid_client')
      if (token === undefined) throw refuse('invalid_request', { param: 'token', message: 'The token is missing.' })
      await withClientLimits(door, call, clientId, 'client_secret', () =>
        revokeByClient(door.platform, call, { clientId, clientSecret }, token),
      )
      return { revoked: true }
    }
    refuseSecondCaller(caller, body)
    switch (caller.kind) {
      case 'session':
        if (body.grantId === undefined)
          throw refuse('invalid_request', { param: 'grantId', message: 'The grantId is missing.' })
        await revokeByUser(door.platform, call, caller, body.grantId)
        break
      case 'embedded': // It lives ten minutes at most; its owner ends the install instead.
        throw refuse('token_type_not_allowed')
      default:
        await revokeByToken(door.platform, call, caller)
    }
    return { revoked: true }
  },
})

/** Fields that only another caller sends: a caller who sends both must not be told of a revocation that did not happen. */
const refuseSecondCaller = (caller: BearerCaller, body: Static<typeof contract.revokeRequest>): void => {
  const foreign = ['clientId', 'clientSecret', 'token', ...(caller.kind === 'session' ? [] : ['grantId'])] as const
  const param = foreign.find((field) => Object.hasOwn(body, field))
  if (param !== undefined) {
    throw refuse('invalid_request', { param, message: 'The caller is named twice: in a header and in the body.' })
  }
}
