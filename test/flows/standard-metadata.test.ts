import { describe, expect, test } from 'bun:test'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'
import { sendForm } from './support/standard.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const issuer = 'https://apps.example.com'
const world = await worldOfFile({ env: { PUBLIC_URL: issuer } })
const { url } = world.server

const serverPath = '~/.well-known/oauth-authorization-server'
const resourcePath = '~/.well-known/oauth-protected-resource/api/app-platform'
const scopes = ['profile.email:read', 'profile:read', 'site.content:write', 'site:read', 'store:read']

/** Where an endpoint is on the server that the tests reach. */
const local = (endpoint: string) => endpoint.slice(issuer.length)

describe('discovery', () => {
  test('describes the authorization server, and nothing that does not work', async () => {
    const { status, headers, body } = await send(url, 'GET', serverPath)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(headers.get('access-control-allow-origin')).toBeNull()
    const methods = ['client_secret_basic', 'client_secret_post']
    expect(body).toEqual({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      userinfo_endpoint: `${issuer}/oauth/userinfo`,
      scopes_supported: scopes,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      token_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_methods_supported: methods,
      introspection_endpoint_auth_methods_supported: methods,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      protected_resources: [`${issuer}/api/app-platform`],
      service_documentation: `${issuer}/docs/guides/oauth-libraries`,
    })
  })

  test('describes the resource and its authorization server', async () => {
    const { status, body } = await send(url, 'GET', resourcePath)
    expect(status).toBe(200)
    expect(body).toEqual({
      resource: `${issuer}/api/app-platform`,
      authorization_servers: [issuer],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
      resource_documentation: `${issuer}/docs/guides/first-app`,
    })
  })

  test('names existing endpoints', async () => {
    const { body } = await send(url, 'GET', serverPath)
    const page = await fetch(url + local(body.authorization_endpoint), { redirect: 'manual' })
    expect(page.status).toBe(400)
    for (const name of ['token_endpoint', 'revocation_endpoint', 'introspection_endpoint']) {
      expect((await sendForm(url, local(body[name]), '')).status).toBe(401)
    }
    const { resource_documentation } = (await send(url, 'GET', resourcePath)).body
    for (const guide of [body.service_documentation, resource_documentation]) {
      const shown = await fetch(url + local(guide))
      expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    }
    expect((await send(url, 'GET', `~${local(body.protected_resources[0])}/me`)).status).toBe(401)
  })

  test('answers HEAD, and no other method', async () => {
    for (const path of [serverPath, resourcePath]) {
      expect((await send(url, 'HEAD', path)).status).toBe(200)
      const answer = await send(url, 'POST', path, { body: '{}' })
      expectRefusal(answer, 'method_not_allowed')
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
    }
  })

  test('has no document for a resource at the root or for unsupported features', async () => {
    for (const path of [
      '~/.well-known/oauth-protected-resource',
      '~/.well-known/oauth-protected-resource/api',
      '~/.well-known/openid-configuration',
      '~/.well-known/oauth-authorization-server/',
      '~/.well-known/',
    ]) {
      expectRefusal(await send(url, 'GET', path, { headers: { Accept: 'text/html' } }), 'route_not_found')
    }
  })
})
