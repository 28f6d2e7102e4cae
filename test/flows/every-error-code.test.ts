import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type ApiVersion, apiVersionRefusal } from '../../src/domain/api-version.ts'
import { type ErrorCode, isErrorCode, PlatformError, statusOf } from '../../src/domain/errors.ts'
import { serviceRights } from '../../src/domain/service-key.ts'
import { linkUser, createUser } from '../../src/operations/users/users.ts'
import { findUser } from '../../src/operations/users/find-user.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { letSecretsRollBack, setAppStatus } from '../../src/operations/apps/apps.ts'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { moveVersion } from '../../src/operations/versions/move-version.ts'

import { askBeside, takeAway } from '../support/beside.ts'
import { type Answer, call } from '../support/call.ts'
import { addTotp } from '../support/factors.ts'
import { operator, trace } from '../support/operator.ts'
import {
  addApp,
  addUser,
  appToken,
  authorizeBody,
  createWorld,
  endWorld,
  exchangeBody,
  grantTokens,
  refreshBody,
  signIn,
  type World,
} from '../support/world.ts'
import { expectEnvelope } from './support/expect-refusal.ts'
import { send } from './support/send.ts'
import { sessionCookieOf } from '../support/cookie.ts'

let world: World
let url: string
let tokens: {
  readonly app: string
  readonly live: string
  readonly user: string
  readonly profile: string
  readonly session: string
}
beforeAll(async () => {
  world = await createWorld({
    env: { RATE_LIMIT: 'on', RATE_LIMIT_SIGN_IN: '2/600', RATE_LIMIT_ADDRESS: '100000/600' },
  })
  url = world.server.url
  tokens = {
    app: await appToken(url, world.app.development),
    live: await appToken(url, world.app.production),
    user: (await grantTokens(world)).accessToken,
    profile: (await grantTokens(world, 'profile:read')).accessToken,
    session: await signIn(url, world.user),
  }
})
afterAll(async () => await endWorld(world))

const issue = async (change: object) =>
  await call(url, 'POST', '/token', { body: { ...world.app.development, scope: 'site:read', ...change } })
const ask = async (change: object) =>
  await call(url, 'POST', '/oauth/authorize', {
    token: tokens.session,
    body: { ...authorizeBody(world.app), ...change },
  })
const upload = async (body: object, key?: string) =>
  await call(url, 'POST', '/versions', {
    token: tokens.app,
    body,
    ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
  })
const rollBack = async (body: object) => await call(url, 'POST', '/versions/rollback', { token: tokens.app, body })
const asked = async (version: string) =>
  await send(url, 'GET', '/me', { headers: { 'X-Service-Api-Version': version } })

/** A call of the builder, who knows an operator. */
const manage = async (method: string, path: string, body?: object): Promise<Answer> => {
  const input = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
  const { secret } = await createServiceKey(world.platform, trace, operator, input)
  const boss = { email: 'boss@example.com', name: 'Boss', password: 'correct horse battery', isOperator: true }
  if ((await findUser(world.platform.database.queries, boss.email)) === null) {
    await createUser(world.platform, trace, operator, boss)
    await linkUser(world.platform, trace, operator, { email: boss.email, externalId: 'operator' })
  }
  const asked = { token: secret, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  return await send(url, method, `~/api/management${path}`, asked)
}

/** How each code comes about; each gives the answer that carries it. */
const causes: Readonly<Record<ErrorCode, () => Promise<Answer | ErrorCode>>> = {
  invalid_json: async () => await send(url, 'POST', '/token', { body: '{' }),
  invalid_request: async () => await issue({ scope: 5 }),
  invalid_scope: async () => await issue({ scope: 'nothing' }),
  invalid_redirect_uri: async () => await ask({ redirectUri: 'https://elsewhere.example/' }),
  unsupported_grant_type: async () =>
    await call(url, 'POST', '/oauth/token', { body: { ...exchangeBody(world.app, 'x'), grantType: 'password' } }),
  unsupported_code_challenge_method: async () => await ask({ codeChallengeMethod: 'plain' }),
  checksum_mismatch: async () =>
    await upload({ version: '1.0.0', artifact: { filename: 'a', contentBase64: '', sha256: '0'.repeat(64) } }),
  api_version_missing: async () => await withoutVersion(),
  api_version_unsupported: async () => await asked('2099-01'),
  invalid_client: async () => await issue({ clientSecret: 'wrong' }),
  invalid_grant: async () => await call(url, 'POST', '/oauth/token', { body: refreshBody(world.app, 'apur_wrong') }),
  invalid_token: async () => await call(url, 'GET', '/me', { token: 'apat_wrong' }),
  login_required: async () => await call(url, 'POST', '/oauth/authorize', { body: authorizeBody(world.app) }),
  invalid_login: async () =>
    await call(url, 'POST', '~/api/session', { body: { email: world.user.email, password: 'wrong' } }),
  second_factor_required: async () => {
    const { email, password } = await addUser(world.platform)
    await addTotp(world.platform, { email, password })
    return await call(url, 'POST', '~/api/session', { body: { email, password } })
  },
  consent_required: async () => await ask({ consent: false }),
  scope_not_allowed: async () => await issue({ scope: 'profile:read' }),
  scope_not_available: async () => await issue({ scope: 'customers:read' }),
  insufficient_scope: async () => await call(url, 'GET', '/resources?kind=site', { token: tokens.profile }),
  token_type_not_allowed: async () => await call(url, 'GET', '/me', { token: tokens.user }),
  development_credentials_required: async () => await call(url, 'GET', '/versions', { token: tokens.live }),
  install_required: async () => {
    const app = await addApp(world.platform, world.user)
    return await call(url, 'GET', '/resources?kind=site', { token: (await grantTokens({ ...world, app })).accessToken })
  },
  activation_not_allowed: async () => await upload({ version: '1.0.0', status: 'active' }),
  rollback_not_allowed: async () => {
    const app = await addApp(world.platform, world.user)
    await letSecretsRollBack(world.platform, trace, operator, { slug: app.slug, areAllowed: false })
    const token = await appToken(url, app.development)
    return await call(url, 'POST', '/versions/rollback', { token, body: { environment: 'production' } })
  },
  // Codes of the standard wire format, which has names of its own for them, and of service keys.
  invalid_target: async () => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', resource: 'https://elsewhere.example/' })
    const headers = {
      authorization: `Basic ${btoa(`${world.app.development.clientId}:${world.app.development.clientSecret}`)}`,
    }
    const refused = JSON.parse(await (await fetch(`${url}/oauth/token`, { method: 'POST', body, headers })).text())
    return refused.error === 'invalid_target' ? 'invalid_target' : 'internal_error'
  },
  right_missing: async () => {
    const input = { name: 'Reader', rights: ['audit:read'], networks: [], expiresInDays: null }
    const { secret } = await createServiceKey(world.platform, trace, operator, input)
    const headers = { authorization: `Bearer ${secret}` }
    const body = new URLSearchParams({ token: 'nothing' })
    const refused = await fetch(`${url}/oauth/introspect`, { method: 'POST', body, headers })
    return refused.status === 403 ? 'right_missing' : 'internal_error'
  },
  // Codes of the management API.
  operator_protected: async () => await manage('PUT', '/users/operator', { email: 'x@example.com', name: 'X' }),
  record_not_found: async () => await manage('GET', '/users/nobody'),
  email_taken: async () => await manage('PUT', '/users/taken', { email: world.user.email, name: 'X' }),
  slug_taken: async () => {
    const stated = { ownerExternalId: 'owner', name: 'X', slug: 'x', status: 'draft' }
    await manage('PUT', '/users/owner', { email: 'owner@example.com', name: 'X' })
    await manage('PUT', '/resources/site/1', stated)
    return await manage('PUT', '/resources/site/2', stated)
  },
  owns_apps: async () => {
    await linkUser(world.platform, trace, operator, { email: world.user.email, externalId: 'developer' })
    return await manage('DELETE', '/users/developer')
  },
  app_inactive: async () => {
    const app = await addApp(world.platform, world.user)
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
    return await issue(app.development)
  },
  token_not_owned: async () => {
    const app = await addApp(world.platform, world.user)
    return await call(url, 'POST', '/oauth/revoke', { body: { ...app.development, token: tokens.user } })
  },
  origin_not_allowed: async () =>
    await send(url, 'GET', '~/api/session', { headers: { Cookie: sessionCookieOf(url, tokens.session) } }),
  route_not_found: async () => await call(url, 'GET', '/nothing'),
  version_not_found: async () => await rollBack({ version: '9.9.9' }),
  grant_not_found: async () =>
    await call(url, 'POST', '/oauth/revoke', { token: tokens.session, body: { grantId: 'grt_x' } }),
  install_not_found: async () => await call(url, 'GET', '/installs/ins_x', { token: tokens.app }),
  method_not_allowed: async () => await call(url, 'DELETE', '/me'),
  version_locked: async () => {
    await upload({ version: '2.0.0' })
    const input = { slug: world.app.slug, version: '2.0.0', step: 'submit', rejection: null } as const
    await moveVersion(world.platform, trace, operator, input)
    return await upload({ version: '2.0.0' })
  },
  version_not_eligible: async () => {
    await upload({ version: '3.0.0' })
    return await rollBack({ version: '3.0.0', environment: 'production' })
  },
  version_already_current: async () => {
    await upload({ version: '4.0.0' })
    return await rollBack({ version: '4.0.0' })
  },
  no_previous_version: async () => await rollBack({ environment: 'production' }),
  idempotency_in_progress: async () => {
    const contentBase64 = Buffer.alloc(1024 * 1024, 5).toString('base64')
    const one = async () => await upload({ version: '5.0.0', artifact: { filename: 'a', contentBase64 } }, 'parallel')
    const answers = await Promise.all(Array.from({ length: 6 }, one))
    return answers.find(({ status }) => status === 409) ?? answers[0] ?? 'internal_error'
  },
  // No call of this version makes a secret; the console's will answer with what this operation refuses.
  too_many_secrets: async () => {
    const input = { slug: world.app.slug, environment: 'development', label: null } as const
    await createCredential(world.platform, trace, operator, input)
    return await codeThrown(async () => await createCredential(world.platform, trace, operator, input))
  },
  // No call of this version makes an app; the console's answers with what this operation refuses.
  quota_exceeded: async () => {
    const narrow = { ...world.platform, quotas: { ...world.platform.quotas, apps: 1 } }
    return await codeThrown(async () => await addApp(narrow, world.user))
  },
  // No version is retired yet.
  api_version_retired: async () => {
    const versions: readonly ApiVersion[] = [
      { name: '2026-08', status: 'retired', deprecatedAt: 0, sunsetAt: Date.UTC(2028, 0) },
    ]
    const refusal = apiVersionRefusal('2026-08', versions)
    expect(refusal?.facts.details).toEqual({ sunsetAt: '2028-01-01T00:00:00.000Z' })
    return refusal?.code ?? 'internal_error'
  },
  payload_too_large: async () => await send(url, 'POST', '/token', { body: `{"a":"${'x'.repeat(65_536)}"}` }),
  unsupported_media_type: async () =>
    await send(url, 'POST', '/token', { body: '{}', headers: { 'Content-Type': 'text/plain' } }),
  idempotency_key_reused: async () => {
    await upload({ version: '6.0.0' }, 'reused')
    return await upload({ version: '6.0.1' }, 'reused')
  },
  rate_limited: async () => {
    const signInAs = { email: 'x@example.com', password: 'x' }
    const tries = await Promise.all(
      [1, 2, 3].map(async () => await call(url, 'POST', '~/api/session', { body: signInAs })),
    )
    return tries.find(({ status }) => status === 429) ?? 'internal_error'
  },
  internal_error: async () => {
    const other = await createWorld()
    try {
      const { accessToken } = await grantTokens(other)
      await askBeside(other.server.database, 'ALTER TABLE resources RENAME TO elsewhere')
      return await call(other.server.url, 'GET', '/resources?kind=site', { token: accessToken })
    } finally {
      await endWorld(other)
    }
  },
  unavailable: async () => {
    const other = await createWorld()
    try {
      await takeAway(other.server.database)
      while ((await call(other.server.url, 'GET', '~/readyz')).status === 200) await Bun.sleep(50)
      const body = { ...other.app.development, scope: 'site:read' }
      return await call(other.server.url, 'POST', '/token', { body })
    } finally {
      await endWorld(other)
    }
  },
}

const withoutVersion = async (): Promise<Answer> => {
  const response = await fetch(`${url}/api/app-platform/me`)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}

const codeThrown = async (work: () => Promise<unknown>): Promise<ErrorCode> => {
  try {
    await work()
  } catch (error) {
    if (error instanceof PlatformError) return error.code
    throw error
  }
  throw new Error('nothing was refused')
}

describe('every code of the contract', () => {
  for (const [code, cause] of Object.entries(causes)) {
    test(`${code} comes about, with its status`, async () => {
      if (!isErrorCode(code)) throw new Error('not a code')
      const answer = await cause()
      if (typeof answer === 'string') {
        expect(answer).toBe(code)
        return
      }
      expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status: statusOf(code), code })
      expectEnvelope(answer)
      if (code === 'unavailable' || code === 'rate_limited' || code === 'idempotency_in_progress') {
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      }
    })
  }

  test('is in the table of codes, which has no others', async () => {
    const source = await Bun.file(join(import.meta.dir, '../../src/domain/errors.ts')).text()
    const listed = [...source.matchAll(/^ {2}([a-z_]+): \[\d{3},/gm)].map(([, code = '']) => code)
    expect(listed.length).toBeGreaterThan(40)
    expect(Object.keys(causes).toSorted()).toEqual(listed.toSorted())
  })
})
