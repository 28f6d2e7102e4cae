import { describe, test } from 'bun:test'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, authorizeBody } from '../support/world.ts'
import { callerTokens } from './support/caller-tokens.ts'
import { bearerRoutes } from './support/contract-routes.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'

const world = await worldOfFile()
const { url } = world.server
const tokens = await callerTokens(world)

describe('the order of checks: route, size and type, version, credential, body, permission, object, state', () => {
  test('an unknown route is reported before a body that is too large or of a wrong type, and before the version', async () => {
    const headers = { 'Content-Type': 'text/plain', 'X-Service-Api-Version': 'x' }
    expectRefusal(await send(url, 'POST', '/nothing', { headers, body: 'x'.repeat(70_000) }), 'route_not_found')
    expectRefusal(await send(url, 'PATCH', '/token', { headers, body: 'x'.repeat(70_000) }), 'method_not_allowed')
  })

  test('size and type are reported before the version', async () => {
    const unversioned = { 'X-Service-Api-Version': 'x' }
    expectRefusal(
      await send(url, 'POST', '/token', { headers: unversioned, body: 'x'.repeat(70_000) }),
      'payload_too_large',
    )
    const typed = { ...unversioned, 'Content-Type': 'text/plain' }
    expectRefusal(await send(url, 'POST', '/token', { headers: typed, body: '{}' }), 'unsupported_media_type')
  })

  test('the version is reported before the credential', async () => {
    const headers = { 'X-Service-Api-Version': 'x' }
    expectRefusal(await send(url, 'GET', '/me', { headers, token: 'x' }), 'api_version_unsupported')
  })

  for (const { method, path, caller } of bearerRoutes) {
    test(`a stranger learns nothing of what ${method} ${path} takes`, async () => {
      const code = caller === 'session' ? 'login_required' : 'invalid_token'
      const [plain = ''] = path.split('?')
      if (method === 'GET') {
        expectRefusal(await send(url, 'GET', `${plain}?limit=x&kind=x&cursor=x&status=x`), code)
        expectRefusal(await send(url, 'GET', `${plain}?limit=x&kind=x`, { token: 'x' }), code)
        return
      }
      for (const body of ['', '{', '[]', '{"version":5}', '{"a":1,"a":2}']) {
        expectRefusal(await send(url, 'POST', path, { body }), code)
        expectRefusal(await send(url, 'POST', path, { body, token: 'x' }), code)
      }
    })
  }

  test('a malformed body or query is reported before a missing permission', async () => {
    expectRefusal(await send(url, 'POST', '/versions', { token: tokens.user, body: '{' }), 'invalid_json')
    expectRefusal(
      await send(url, 'POST', '/versions', { token: tokens.user, body: '{}' }),
      'invalid_request',
      'version',
    )
    expectRefusal(
      await send(url, 'POST', '/versions', { token: tokens.live, body: '{"version":"x"}' }),
      'invalid_request',
      'version',
    )
    expectRefusal(
      await send(url, 'POST', '/versions/rollback', { token: tokens.live, body: '{"dryRun":1}' }),
      'invalid_request',
    )
    expectRefusal(await send(url, 'GET', '/versions?limit=0', { token: tokens.live }), 'invalid_request', 'limit')
    expectRefusal(await send(url, 'GET', '/versions?status=x', { token: tokens.user }), 'invalid_request', 'status')
    expectRefusal(await send(url, 'GET', '/resources', { token: tokens.app }), 'invalid_request', 'kind')
    const named = JSON.stringify({ version: '1.0', status: 'active' })
    expectRefusal(
      await send(url, 'POST', '/versions', { token: tokens.app, body: named }),
      'invalid_request',
      'version',
    )
    const sum = JSON.stringify({
      version: '1.0.0',
      publish: true,
      scopes: ['customers:read'],
      artifact: { filename: 'a', contentBase64: 'aGVsbG8=', sha256: '0'.repeat(64) },
    })
    expectRefusal(await send(url, 'POST', '/versions', { token: tokens.app, body: sum }), 'checksum_mismatch')
  })

  test('a missing permission is reported before a missing object', async () => {
    const body = JSON.stringify({ version: '9.9.9' })
    expectRefusal(
      await send(url, 'POST', '/versions/rollback', { token: tokens.live, body }),
      'development_credentials_required',
    )
    expectRefusal(await send(url, 'POST', '/versions/rollback', { token: tokens.user, body }), 'token_type_not_allowed')
  })

  test('malformed input is reported before a missing permission, even for a suspended app', async () => {
    const app = await addApp(world.platform, world.user)
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
    const issue = async (scope: string, secret = app.development.clientSecret) =>
      await send(url, 'POST', '/token', { body: JSON.stringify({ ...app.development, clientSecret: secret, scope }) })
    expectRefusal(await issue('site:read', 'wrong'), 'invalid_client')
    expectRefusal(await issue('nothing'), 'invalid_scope')
    expectRefusal(await issue('customers:read'), 'scope_not_available')
    expectRefusal(await issue('site:read'), 'app_inactive')
    const authorize = async (change: object) =>
      await send(url, 'POST', '/oauth/authorize', {
        token: tokens.session,
        body: JSON.stringify({ ...authorizeBody(app), ...change }),
      })
    expectRefusal(await authorize({ redirectUri: 'https://elsewhere.example/' }), 'invalid_redirect_uri')
    expectRefusal(await authorize({ codeChallengeMethod: 'plain' }), 'unsupported_code_challenge_method')
    expectRefusal(await authorize({ scope: 'nothing' }), 'invalid_scope')
    expectRefusal(await authorize({}), 'app_inactive')
  })
})
