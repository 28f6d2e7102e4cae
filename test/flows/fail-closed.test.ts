import { describe, expect, test } from 'bun:test'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { listCredentials, revokeCredential, rotateCredential } from '../../src/operations/credentials/credentials.ts'
import { createInstall, moveInstall } from '../../src/operations/installs/installs.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { type Answer, call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  appToken,
  authorize,
  authorizeBody,
  exchange,
  exchangeBody,
  installApp,
  type Login,
  refresh,
  refreshBody,
  signIn,
  type Tokens,
} from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'

const world = await worldOfFile()
const { url } = world.server

/** One user and one app with every kind of credential that can be live between them. */
type Scene = {
  readonly user: Login
  readonly app: AppInWorld
  readonly install: string
  readonly appToken: string
  readonly liveToken: string
  readonly session: string
  readonly code: string
  readonly tokens: Tokens
}

const createScene = async (): Promise<Scene> => {
  const user = await addUser(world.platform)
  const app = await addApp(world.platform, user)
  const install = await installApp(world.platform, app, user)
  const session = await signIn(url, user)
  const { body } = await exchange(url, app, await authorize(url, session, app))
  return {
    user,
    app,
    install,
    session,
    tokens: body,
    appToken: await appToken(url, app.development),
    liveToken: await appToken(url, app.production),
    code: await authorize(url, session, app),
  }
}

/** Every way to use these credentials. None may change anything when it is refused. */
const uses = {
  me: async ({ appToken: token }) => await call(url, 'GET', '/me', { token }),
  liveMe: async ({ liveToken: token }) => await call(url, 'GET', '/me', { token }),
  listVersions: async ({ appToken: token }) => await call(url, 'GET', '/versions', { token }),
  createVersion: async ({ appToken: token }) =>
    await call(url, 'POST', '/versions', { token, body: { version: '1.0.0' } }),
  rollBack: async ({ appToken: token }) =>
    await call(url, 'POST', '/versions/rollback', { token, body: { dryRun: true } }),
  whoIs: async ({ tokens }) => await call(url, 'GET', '/oauth/me', { token: tokens.accessToken }),
  resources: async ({ tokens }) => await call(url, 'GET', '/resources?kind=site', { token: tokens.accessToken }),
  session: async ({ session: token }) => await call(url, 'GET', '~/api/session', { token }),
  authorize: async ({ session: token, app }) =>
    await call(url, 'POST', '/oauth/authorize', { token, body: authorizeBody(app) }),
  issue: async ({ app }) => await call(url, 'POST', '/token', { body: { ...app.development, scope: 'site:read' } }),
  refresh: async ({ app, tokens }) =>
    await call(url, 'POST', '/oauth/token', { body: refreshBody(app, tokens.refreshToken) }),
  exchange: async ({ app, code }) => await call(url, 'POST', '/oauth/token', { body: exchangeBody(app, code) }),
} as const satisfies Record<string, (scene: Scene) => Promise<Answer>>
type Use = keyof typeof uses
/** What works on a whole scene: all but a rollback without versions. The last two spend what they use. */
const working = [
  'me',
  'liveMe',
  'listVersions',
  'createVersion',
  'whoIs',
  'resources',
  'session',
  'authorize',
  'issue',
  'exchange',
  'refresh',
] as const

const expectRefused = async (scene: Scene, refused: Partial<Record<Use, ErrorCode>>): Promise<void> => {
  for (const use of useNames) {
    const code = refused[use]
    if (code !== undefined) expectRefusal(await uses[use](scene), code)
  }
}
const expectWorking = async (scene: Scene, names: readonly Use[]): Promise<void> => {
  for (const use of names)
    expect([use, (await uses[use](scene)).status]).toEqual([use, use === 'createVersion' ? 201 : 200])
}
const useNames: readonly Use[] = [...working, 'rollBack']

const setApp = async ({ app }: Scene, status: 'active' | 'suspended') =>
  await setAppStatus(world.platform, trace, operator, { slug: app.slug, status })
const setUser = async ({ user }: Scene, status: 'active' | 'disabled') =>
  await setUserStatus(world.platform, trace, operator, { email: user.email, status, apps: { kind: 'keep' } })
const developmentCredential = async ({ app }: Scene) => {
  const all = await listCredentials(world.platform, app.slug)
  return all.find(({ environment }) => environment === 'development')?.id ?? ''
}

test('everything works while everything is live', async () => {
  await expectWorking(await createScene(), working)
})

const appDead = {
  me: 'invalid_token',
  listVersions: 'invalid_token',
  createVersion: 'invalid_token',
  rollBack: 'invalid_token',
} as const

describe('the next call is refused', () => {
  test('when the app is suspended; everything works again when it is activated', async () => {
    const scene = await createScene()
    await setApp(scene, 'suspended')
    await expectRefused(scene, {
      ...appDead,
      liveMe: 'invalid_token',
      whoIs: 'invalid_token',
      resources: 'invalid_token',
      authorize: 'app_inactive',
      issue: 'app_inactive',
      exchange: 'app_inactive',
      refresh: 'app_inactive',
    })
    await expectWorking(scene, ['session'])
    await setApp(scene, 'active')
    await expectWorking(scene, working)
  })

  test('when the user is disabled; grants work again when the user is enabled, sessions never', async () => {
    const scene = await createScene()
    await setUser(scene, 'disabled')
    const refused = { session: 'login_required', authorize: 'login_required' } as const
    await expectRefused(scene, {
      ...refused,
      whoIs: 'invalid_token',
      resources: 'invalid_token',
      exchange: 'invalid_grant',
      refresh: 'invalid_grant',
    })
    expectRefusal(
      await call(url, 'POST', '~/api/session', { body: { email: scene.user.email, password: scene.user.password } }),
      'invalid_login',
    )
    await expectWorking(scene, ['me', 'listVersions', 'issue'])
    await setUser(scene, 'active')
    await expectRefused(scene, refused)
    await expectWorking(scene, ['whoIs', 'resources', 'exchange', 'refresh'])
  })

  test('when the credential is revoked: its app tokens end, but not grants or the other environment', async () => {
    const scene = await createScene()
    await revokeCredential(world.platform, trace, operator, await developmentCredential(scene))
    await expectRefused(scene, {
      ...appDead,
      issue: 'invalid_client',
      exchange: 'invalid_client',
      refresh: 'invalid_client',
    })
    await expectWorking(scene, ['liveMe', 'whoIs', 'resources', 'session', 'authorize'])
  })

  test('when the grace period of a rotation ends, and not before', async () => {
    const scene = await createScene()
    const old = await developmentCredential(scene)
    const input = { clientId: scene.app.development.clientId, graceHours: 24 }
    const { clientId, clientSecret } = await rotateCredential(world.platform, trace, operator, input)
    await expectWorking(scene, ['me', 'issue'])
    await world.platform.database.transaction(
      async (q) => await q.credentials.endAt([{ id: old }], world.platform.clock.now()),
    )
    await expectRefused(scene, { ...appDead, issue: 'invalid_client', refresh: 'invalid_client' })
    const rotated = { ...scene, app: { ...scene.app, development: { clientId, clientSecret } } }
    await expectWorking(rotated, ['issue', 'whoIs', 'exchange', 'refresh'])
  })

  test('when a secret is rotated without a grace period', async () => {
    const scene = await createScene()
    const input = { clientId: scene.app.development.clientId, graceHours: 0 }
    await rotateCredential(world.platform, trace, operator, input)
    await expectRefused(scene, {
      ...appDead,
      issue: 'invalid_client',
      exchange: 'invalid_client',
      refresh: 'invalid_client',
    })
  })

  test('when the grant is revoked: other grants of the same user and app continue', async () => {
    const scene = await createScene()
    await call(url, 'POST', '/oauth/revoke', { token: scene.session, body: { grantId: scene.tokens.grantId } })
    await expectRefused(scene, { whoIs: 'invalid_token', resources: 'invalid_token', refresh: 'invalid_grant' })
    await expectWorking(scene, ['me', 'session', 'exchange'])
  })

  test('when the access token was refreshed away', async () => {
    const scene = await createScene()
    await refresh(url, scene.app, scene.tokens.refreshToken)
    await expectRefused(scene, { whoIs: 'invalid_token', resources: 'invalid_token' })
  })

  test('when the session was ended', async () => {
    const scene = await createScene()
    expect((await call(url, 'DELETE', '~/api/session', { token: scene.session })).status).toBe(204)
    await expectRefused(scene, { session: 'login_required', authorize: 'login_required' })
    await expectWorking(scene, ['whoIs', 'exchange'])
  })
})

const again = async ({ app, user }: Scene, kind: 'site' | 'store') => {
  const input = { slug: app.slug, userEmail: user.email, kind, resourceSlug: `my-${kind}` }
  return await createInstall(world.platform, trace, operator, input)
}
const move = async (id: string, step: 'approve' | 'reject' | 'deactivate') =>
  await moveInstall(world.platform, trace, operator, { id, step })

describe('resources need an install of this user that is approved and active', () => {
  test('until it is deactivated, and a new one must be approved first', async () => {
    const scene = await createScene()
    await move(scene.install, 'deactivate')
    await expectRefused(scene, { resources: 'install_required' })
    const next = await again(scene, 'site')
    await expectRefused(scene, { resources: 'install_required' })
    await move(next.id, 'approve')
    await expectWorking(scene, ['resources'])
  })

  test('and a rejected one does not count', async () => {
    const scene = await createScene()
    await move(scene.install, 'deactivate')
    await move((await again(scene, 'site')).id, 'reject')
    await expectRefused(scene, { resources: 'install_required' })
  })

  test('on any website or store', async () => {
    const scene = await createScene()
    await move(scene.install, 'deactivate')
    await move((await again(scene, 'store')).id, 'approve')
    await expectWorking(scene, ['resources'])
  })

  test("and not another user's, nor another app's", async () => {
    const scene = await createScene()
    const stranger = await addUser(world.platform, 'Bob Example')
    const code = await authorize(url, await signIn(url, stranger), scene.app)
    const tokens = (await exchange(url, scene.app, code)).body
    await expectRefused({ ...scene, tokens }, { resources: 'install_required' })
    const app = await addApp(world.platform, scene.user)
    const elsewhere = (await exchange(url, app, await authorize(url, scene.session, app))).body
    await expectRefused({ ...scene, app, tokens: elsewhere }, { resources: 'install_required' })
  })
})
