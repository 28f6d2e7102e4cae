import { expect } from 'bun:test'
import { closeBrowsers } from '../pages/support/browser.ts'
import type { Json } from '../support/call.ts'
import { needs, type ProgramName } from '../support/needs.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import {
  byBun,
  byNode,
  byPython,
  type ClientCommand,
  type RunningClient,
  startClient,
} from './support/client-process.ts'
import { decideInBrowser } from './support/consent.ts'
import { createProxiedWorld, endProxiedWorld, type ProxiedWorld } from './support/proxied-world.ts'

// Unmodified client libraries, configured as their documentation says, over HTTPS through nginx.

const scope = 'profile:read profile.email:read'
const appScope = 'site:read'
const around: readonly ProgramName[] = ['nginx', 'openssl', 'Chromium']
const clients: readonly { client: string; command: ClientCommand; programs: readonly ProgramName[] }[] = [
  { client: 'openid-client under Node', command: byNode('with-openid-client.mjs'), programs: ['node'] },
  { client: 'openid-client under Bun', command: byBun('with-openid-client.mjs'), programs: [] },
  { client: 'oauth4webapi under Node', command: byNode('with-oauth4webapi.mjs'), programs: ['node'] },
  { client: 'oauth4webapi under Bun', command: byBun('with-oauth4webapi.mjs'), programs: [] },
  { client: 'Authlib', command: byPython('with_authlib.py', 'Authlib'), programs: ['Authlib'] },
  {
    client: 'requests-oauthlib',
    command: byPython('with_requests_oauthlib.py', 'requests-oauthlib'),
    programs: ['requests-oauthlib'],
  },
]
const { afterAll, afterEach, beforeAll } = needs(...around)

let world: ProxiedWorld
beforeAll(async () => void (world = await createProxiedWorld()))
afterEach(closeBrowsers)
afterAll(async () => await endProxiedWorld(world))

type Started = { readonly running: RunningClient; readonly app: AppInWorld; readonly user: Login }

const start = async (command: ClientCommand): Promise<Started> => {
  const user = await addUser(world.platform)
  const app = await addApp(world.platform, user)
  const { publicUrl: issuer, authority } = world
  return { running: await startClient(command, { issuer, app, scope, appScope, authority }), app, user }
}

const livedAs = async ({ running, user }: Started, answer: 'Allow' | 'Deny'): Promise<Json> =>
  await running.finish(await decideInBrowser(world.publicUrl, running.authorizationUrl, { user, answer }))

for (const { client, command, programs } of clients) {
  const { describe, test } = needs(...around, ...programs)
  describe(client, () => {
    test('completes discovery, authorization, exchange, API call, refresh, introspection and revocation', async () => {
      const started = await start(command)
      const { app, user } = started
      const story = await livedAs(started, 'Allow')
      expect(story.metadata).toMatchObject({ issuer: world.publicUrl })
      expectTokens(story)
      expect(story.user).toMatchObject({ id: user.id, email: user.email, clientId: app.development.clientId })
      expect(story.sameUser).toMatchObject({ id: user.id, grantId: story.user.grantId })
      expect(story.app).toMatchObject({ appId: app.id, scope: appScope })
      expectIntrospection(story, started)
      expectEnd(story)
    })

    test('gets access_denied if the user declines', async () => {
      expect(await livedAs(await start(command), 'Deny')).toEqual({ denied: 'access_denied' })
    })
  })
}

/** RFC 6749 sections 5.1, 6 and 4.4.3. */
const expectTokens = ({ exchanged, refreshed, alsoRefreshed, appToken, replaced }: Json): void => {
  const sorted = scope.split(' ').toSorted()
  for (const answer of [exchanged, refreshed]) {
    expect(answer).toMatchObject({ token_type: expect.stringMatching(/^bearer$/i) })
    expect(3600 - answer.expires_in).toBeWithin(0, 10) // of two workers that refresh at once, one may get the tokens a second later
    expect([answer.scope].flat().join(' ').split(' ').toSorted()).toEqual(sorted)
    expect(answer.access_token).toStartWith('apua_')
    expect(answer.refresh_token).toStartWith('apur_')
  }
  expect(refreshed.access_token).not.toBe(exchanged.access_token)
  expect(refreshed.refresh_token).not.toBe(exchanged.refresh_token)
  expect(alsoRefreshed.access_token).toBe(refreshed.access_token)
  expect(alsoRefreshed.refresh_token).toBe(refreshed.refresh_token)
  expect(replaced).toBe('401 bearer invalid_token')
  expect(appToken.access_token).toStartWith('apat_')
  expect(appToken).not.toHaveProperty('refresh_token')
}

/** RFC 7662 section 2.2. */
const expectIntrospection = (story: Json, { app, user }: Started): void => {
  const { clientId } = app.development
  const now = Date.now() / 1000
  expect(story.introspected).toMatchObject({ active: true, client_id: clientId, sub: user.id, iss: world.publicUrl })
  expect(story.introspected.exp).toBeWithin(now + 3000, now + 3601)
  expect(story.introspectedApp).toMatchObject({ active: true, client_id: clientId, scope: appScope })
  expect(story.introspectedReplaced).toEqual({ active: false })
}

const expectEnd = ({ afterRevoke, appAfterRevoke, revokedApp, wrongSecret, app }: Json): void => {
  expect(afterRevoke).toEqual({
    call: '401 bearer invalid_token',
    refresh: 'invalid_grant',
    code: 'invalid_grant',
    introspected: { active: false },
    introspectedRefreshToken: { active: false },
  })
  expect(appAfterRevoke).toEqual(app) // the end of a grant is not the end of the app's own tokens
  expect(revokedApp).toBe('401 bearer invalid_token')
  // RFC 6749 section 5.2; the two libraries from npm show the challenge and not the body.
  expect(wrongSecret).toBeOneOf(['invalid_client', '401 basic'])
}
