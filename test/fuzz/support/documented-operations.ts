import { challengeOf } from '../../../src/domain/pkce.ts'
import type { Json } from '../../support/call.ts'
import { embedOrigin } from '../../support/embedding.ts'
import { verifier } from '../../support/world.ts'
import type { FuzzWorld } from './credentials.ts'
import { type Pairs, secret } from './draft.ts'
import { bearer, type Chance, draftOf, jsonType, type Operation, pick } from './operation.ts'

/** What a field of this name can be so that the request may succeed; any other gets the document's own example. */
const liveValues = ({ api }: FuzzWorld, chance: Chance, index: number): Readonly<Record<string, () => unknown>> => ({
  clientId: () => api.app.development.clientId,
  clientSecret: () => secret('clientSecret'),
  scope: () => pick(chance, ['site:read', 'profile:read site:read', 'store:read', '']),
  redirectUri: () => api.app.redirectUri,
  state: () => `state-${index}`,
  codeChallenge: () => challengeOf(verifier),
  codeVerifier: () => verifier,
  grantType: () => pick(chance, ['authorization_code', 'refresh_token']),
  code: () => secret('code'),
  refreshToken: () => secret('refreshToken'),
  token: () => secret(pick(chance, ['freshUserToken', 'freshAppToken', 'refreshToken', 'code', 'endedToken'])),
  grantId: () => secret('grantId'),
  email: () => api.user.email,
  password: () => secret('password'),
  version: () => pick(chance, [`9.${index}.0`, `9.${index}.0`, '1.0.0', `9.${index}.0-rc.1`]),
  versionId: () => `ver_${'0'.repeat(32)}`,
  scopes: () => pick(chance, [['site:read'], [], ['profile:read', 'store:read']]),
  manifest: () => pick<object>(chance, [{}, { name: 'x', embedUrl: 'https://x.example/' }, { a: [1, { b: null }] }]),
  contentBase64: () => pick(chance, ['aGk=', '', Buffer.alloc(300_000, index % 256).toString('base64')]),
  filename: () => 'bundle.zip',
  kind: () => pick(chance, ['site', 'store']),
  limit: () => pick(chance, ['1', '100', '20']),
  status: () => pick(chance, ['draft', 'active', 'superseded']),
})

/** Without these the body still says something else: left out more often than not. */
const seldom = new Set(['sha256', 'cursor', 'versionId', 'grantId', 'submit', 'publish', 'activate', 'Idempotency-Key'])

const valueFor = (
  name: string,
  schema: Json,
  example: Json,
  live: Readonly<Record<string, () => unknown>>,
  chance: Chance,
): unknown => {
  const known = live[name]
  if (known !== undefined && schema.properties === undefined) return known()
  if (schema.properties !== undefined) return objectFor(schema, example, live, chance)
  return example ?? null
}

const objectFor = (
  schema: Json,
  example: Json,
  live: Readonly<Record<string, () => unknown>>,
  chance: Chance,
): object => {
  const needed: readonly string[] = schema.required ?? []
  const chosen = Object.entries<Json>(schema.properties ?? {}).filter(
    ([name]) => needed.includes(name) || chance(seldom.has(name) ? 12 : 3) === 0 || oftenNeeded.has(name),
  )
  return Object.fromEntries(chosen.map(([name, field]) => [name, valueFor(name, field, example?.[name], live, chance)]))
}

/** Optional by schema, since several requests share it, and needed all the same. */
const oftenNeeded = new Set([
  'code',
  'redirectUri',
  'codeVerifier',
  'refreshToken',
  'consent',
  'clientId',
  'clientSecret',
  'token',
])

const schemes: Readonly<Record<string, string>> = {
  appToken: 'appToken',
  userToken: 'userToken',
  session: 'session',
  embeddedSession: 'embedded',
}

export const documentedOperation = (world: FuzzWorld, method: string, path: string, told: Json): Operation => ({
  name: `${method} ${path}`,
  weight: path.includes('/app-platform/') ? 12 : 3,
  draft: (chance, index) => {
    const live = liveValues(world, chance, index)
    const parameters: readonly Json[] = told.parameters ?? []
    const sent = parameters.filter(({ name, required }) => required === true || chance(seldom.has(name) ? 8 : 2) === 0)
    const pairsIn = (place: string): Pairs =>
      sent
        .filter((parameter) => parameter.in === place)
        .map(({ name, example }) => [name, String(live[name]?.() ?? example ?? 'x')])
    const body = told.requestBody?.content['application/json']
    const schema = body?.schema.anyOf === undefined ? body?.schema : pick<Json>(chance, body.schema.anyOf)
    const security: readonly Json[] = told.security ?? [{}]
    const [scheme] = Object.keys(security[chance(security.length)] ?? {})
    const credential = scheme === undefined ? [] : [bearer(credentialFor(method, path, schemes[scheme] ?? 'session'))]
    const origin: Pairs = scheme === 'embeddedSession' ? [['Origin', embedOrigin(world.api.app)]] : []
    const value =
      schema === undefined ? null : bodyFor(path, scheme, objectFor(schema, body.examples?.whole?.value, live, chance))
    return draftOf(method, {
      path,
      query: pairsIn('query'),
      headers: [...pairsIn('header'), ...credential, ...origin, ...(value === null ? [] : [jsonType])],
      ...(value === null ? {} : { body: { kind: 'json', value } }),
    })
  },
})

/** What the request ends must not be what the next ones need. */
const credentialFor = (method: string, path: string, name: string): string => {
  if (method === 'DELETE') return 'freshSession'
  if (!path.endsWith('/revoke')) return name
  return name === 'session' ? name : name === 'appToken' ? 'freshAppToken' : 'freshUserToken'
}

/** Revocation takes three kinds of bodies, one for each kind of caller. */
const bodyFor = (path: string, scheme: string | undefined, whole: object): object => {
  if (!path.endsWith('/revoke') || scheme === undefined) return whole
  return scheme === 'session' ? { grantId: secret('grantId') } : {}
}
