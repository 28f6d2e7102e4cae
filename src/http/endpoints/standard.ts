/**
 * What any OAuth client library talks to: the operations of the contract in the wire format of the RFCs. Forms in, snake_case
 * out, no version header. Refusals get their format in `standard-refusal.ts`.
 */
import { Type } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import { isIssuable } from '../../domain/scope.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import type { ClientCredentials } from '../../operations/authenticate-client.ts'
import { introspect, introspectForBuilder, type TokenFacts } from '../../operations/oauth/introspect.ts'
import { revokeByClient } from '../../operations/oauth/revoke.ts'
import { withClientLimits } from '../limits.ts'
import * as contract from '../contract/standard.ts'
import { endpoint, formBody, type Guard } from '../endpoint.ts'
import {
  authorizationPath,
  contractPath,
  introspectionPath,
  resourceMetadataPath,
  revocationPath,
  serverMetadataPath,
  tokenPath,
  userInfoPath,
} from '../paths.ts'
import type { Call } from '../call.ts'
import type { Details } from '../contract/details.ts'
import type { Door } from '../door.ts'
import { type PresentedKey, presentedServiceKey, requireRight, requireServiceKey } from '../management.ts'
import { clientOf, needed, type Parameters, readParameters } from '../standard-client.ts'
import { type GrantRequest, issueByGrant, issueForApp } from './grants.ts'

/** RFC 6749 section 5.1: on every answer with tokens, and here on every other. */
const uncached = { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache' } as const

/** Clients authenticate by what the form or the header says, which `run` reads. */
const asClient: Guard<null> = { callers: ['client', 'none'], errors: [], admit: () => null }
const asClientOrBuilder: Guard<null> = { ...asClient, callers: ['client', 'serviceKey', 'none'] }

/** The token endpoint (RFC 6749 section 3.2). */
export const standardToken = endpoint({
  method: 'POST',
  path: tokenPath,
  caller: asClient,
  body: formBody(readParameters),
  answers: { 200: contract.tokenAnswer },
  headers: uncached,
  errors: [
    'invalid_client',
    'invalid_grant',
    'invalid_scope',
    'invalid_target',
    'unsupported_grant_type',
    'app_inactive',
    'scope_not_allowed',
    'scope_not_available',
  ],
  details: {
    id: 'issueStandardTokens',
    summary: 'Tokens in the wire format of RFC 6749',
    description:
      'For OAuth client libraries. The client authenticates with HTTP Basic or in the form, never with both.',
    tag: 'Standard OAuth',
    otherBody: { type: 'application/x-www-form-urlencoded', schema: contract.tokenForm },
  },
  isHot: true,
  run: async (door, call, { body: parameters }) => {
    const client = clientOf(call, parameters)
    if (parameters.resources.some((each) => each !== door.platform.publicUrl + contractPath)) {
      throw refuse('invalid_target', { param: 'resource' })
    }
    const request = grantRequestOf(client, parameters)
    const issued =
      request.grantType === 'client_credentials'
        ? await issueForApp(door, call, request)
        : await issueByGrant(door, call, request)
    return {
      access_token: issued.accessToken,
      token_type: 'Bearer' as const,
      expires_in: issued.expiresInSeconds,
      ...('refreshToken' in issued ? { refresh_token: issued.refreshToken } : {}),
      scope: issued.scope,
    }
  },
})

/** Without a scope, an app gets everything it may have for itself (RFC 6749 section 3.3). */
type AppTokenRequest = ClientCredentials & { readonly grantType: 'client_credentials'; readonly scope: string | null }

const grantRequestOf = (client: ClientCredentials, parameters: Parameters): GrantRequest | AppTokenRequest => {
  const grantType = needed(parameters, 'grant_type')
  switch (grantType) {
    case 'authorization_code': {
      const code = needed(parameters, 'code')
      const redirectUri = needed(parameters, 'redirect_uri')
      const codeVerifier = needed(parameters, 'code_verifier')
      return { grantType, ...client, code, redirectUri, codeVerifier }
    }
    case 'refresh_token':
      return { grantType, ...client, refreshToken: needed(parameters, 'refresh_token'), scope: parameters('scope') }
    case 'client_credentials':
      return { grantType, ...client, scope: parameters('scope') }
    default:
      throw refuse('unsupported_grant_type', { param: 'grant_type' })
  }
}

/** Token revocation (RFC 7009). A hint is accepted and not needed: a token shows its kind. */
export const standardRevocation = endpoint({
  method: 'POST',
  path: revocationPath,
  caller: asClient,
  body: formBody(readParameters),
  answers: { 200: Type.Object({}, { description: 'It no longer works, if it ever did.' }) },
  headers: uncached,
  errors: ['invalid_client', 'token_not_owned'],
  details: {
    id: 'revokeStandardToken',
    summary: 'Revoke a token (RFC 7009)',
    description: 'A refresh token ends its whole grant. Unknown and dead tokens are answered alike.',
    tag: 'Standard OAuth',
    otherBody: { type: 'application/x-www-form-urlencoded', schema: contract.tokenInQuestion },
  },
  run: async (door, call, { body: parameters }) => {
    const client = clientOf(call, parameters, { takesBoth: true })
    const token = needed(parameters, 'token')
    await withClientLimits(door, call, client.clientId, 'client_secret', () =>
      revokeByClient(door.platform, call, client, token),
    )
    call.notes.clientId = client.clientId
    return {} // RFC 7009 section 2.2 leaves the body open, and some clients parse it as JSON
  },
})

/** Token introspection (RFC 7662): for the resource servers of an app, which have its credentials, and for the builder with a service key. */
export const standardIntrospection = endpoint({
  method: 'POST',
  path: introspectionPath,
  caller: asClientOrBuilder,
  body: formBody(readParameters),
  answers: { 200: contract.introspectionAnswer },
  headers: uncached,
  errors: ['invalid_client', 'right_missing'],
  details: {
    id: 'introspectToken',
    summary: 'Is this token live? (RFC 7662)',
    description:
      'For the app that the token or embedded session belongs to, with its credentials; for the builder about every token, with a service key that has `tokens:introspect`. The answer is 200 for dead tokens too: read `active`.',
    tag: 'Token checks',
    otherBody: { type: 'application/x-www-form-urlencoded', schema: contract.tokenInQuestion },
  },
  isHot: true,
  run: async (door, call, { body: parameters }) => {
    const key = presentedServiceKey(call)
    if (key !== null) return await introspectedForBuilder(door, call, key, parameters)
    const client = clientOf(call, parameters)
    const text = needed(parameters, 'token')
    const { appId, token } = await withClientLimits(door, call, client.clientId, 'client_secret', () =>
      introspect(door.platform, call, client, text),
    )
    call.notes.clientId = client.clientId
    call.notes.appId = appId
    return token === null ? { active: false } : introspected(token, door.platform.publicUrl)
  },
})

/** The builder asks about the tokens of every app, and learns more of each. */
const introspectedForBuilder = async (door: Door, call: Call, key: PresentedKey, parameters: Parameters) => {
  const caller = await requireServiceKey(door, call, key)
  await requireRight(door, call, caller, 'tokens:introspect')
  const token = await introspectForBuilder(door.platform, needed(parameters, 'token'))
  if (token === null) return { active: false }
  call.notes.appId = token.appId
  return {
    ...introspected(token, door.platform.publicUrl),
    app_id: token.appId,
    environment: token.environment,
    ...(token.userExternalId === null ? {} : { external_id: token.userExternalId }),
    resources: [...token.resources],
  }
}

/**
 * `token_type` is omitted for refresh tokens (RFC 6749 section 5.1), so that a server which accepts only Bearer tokens does not
 * accept one.
 */
const introspected = ({ kind, subject, clientId, issuedAt, expiresAt, ...token }: TokenFacts, issuer: string) => ({
  active: true,
  ...('scope' in token ? { scope: token.scope } : { install_id: token.installId, resource: token.resource }),
  client_id: clientId,
  ...tokenTypes[kind],
  exp: wholeSeconds(expiresAt),
  iat: wholeSeconds(issuedAt),
  sub: subject,
  iss: issuer,
})

const tokenTypes = {
  app_token: { token_type: 'Bearer' },
  access_token: { token_type: 'Bearer' },
  refresh_token: {},
  embedded_session: { token_type: 'embedded_session' }, // works only in a browser, on pages of its origin
} as const

const wholeSeconds = (epochMs: number): number => Math.floor(epochMs / 1000)

const clientMethods = ['client_secret_basic', 'client_secret_post'] as const

/** RFC 8414 section 2, with RFC 9207 section 3 and RFC 9728 section 4. Only what works is listed. */
const serverMetadata = (issuer: string, scopes: readonly string[]) => ({
  issuer,
  authorization_endpoint: issuer + authorizationPath,
  token_endpoint: issuer + tokenPath,
  revocation_endpoint: issuer + revocationPath,
  introspection_endpoint: issuer + introspectionPath,
  userinfo_endpoint: issuer + userInfoPath,
  scopes_supported: scopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
  token_endpoint_auth_methods_supported: clientMethods,
  revocation_endpoint_auth_methods_supported: clientMethods,
  introspection_endpoint_auth_methods_supported: clientMethods,
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  protected_resources: [issuer + contractPath],
  service_documentation: `${issuer}/docs/guides/oauth-libraries`,
})

/** RFC 9728 section 2: the endpoints of the contract, as one resource. */
const resourceMetadata = (issuer: string, scopes: readonly string[]) => ({
  resource: issuer + contractPath,
  authorization_servers: [issuer],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
  resource_documentation: `${issuer}/docs/guides/first-app`,
})

const metadata = (
  path: string,
  details: Pick<Details, 'id' | 'summary'>,
  contentFor: (issuer: string, scopes: readonly string[]) => object,
) =>
  endpoint({
    method: 'GET',
    path,
    answers: { 200: Type.Record(Type.String(), Type.Unknown(), { description: 'The metadata.' }) },
    details: { ...details, description: 'For discovery by client libraries.', tag: 'Standard OAuth' },
    run: async ({ platform }) => {
      const issuableOnes = [...(await readCatalogue(platform))].filter(([, entry]) => isIssuable(entry))
      const scopes = issuableOnes.map(([name]) => name).toSorted()
      return new Response(JSON.stringify(contentFor(platform.publicUrl, scopes)), {
        headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' },
      })
    },
  })

/** How clients discover the endpoints. */
export const standardServerMetadata = metadata(
  serverMetadataPath,
  { id: 'readServerMetadata', summary: 'Metadata of the authorization server (RFC 8414)' },
  serverMetadata,
)
/** Only under the resource's own path: a document at the root would describe a resource at the root (RFC 9728 section 3.3). */
export const standardResourceMetadata = metadata(
  resourceMetadataPath + contractPath,
  { id: 'readResourceMetadata', summary: 'Metadata of the API as a resource (RFC 9728)' },
  resourceMetadata,
)
