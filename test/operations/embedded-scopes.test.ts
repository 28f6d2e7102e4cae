import { beforeAll, expect, test } from 'bun:test'
import type { Environment } from '../../src/domain/app.ts'
import type { ScopeName } from '../../src/domain/scope.ts'
import type { VersionStep } from '../../src/domain/version.ts'
import { exchangeInstallSessionCode, issueInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { authenticateEmbeddedSession } from '../../src/operations/authenticate.ts'
import { rollBackVersion } from '../../src/operations/versions/move-version.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addEmbeddedVersion, embedOrigin, installEmbedded } from '../support/embedding.ts'
import { trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { developmentCaller, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
let user: Login
beforeAll(async () => {
  user = await addUser(platform)
  await installed('production') // another app whose version must not count
})

const wide: readonly ScopeName[] = ['profile:read', 'site:read']
const narrow: readonly ScopeName[] = ['profile:read']
const live: readonly VersionStep[] = ['submit', 'approve', 'activate']

/** The user's own app, with a wide version, on a place of the user. */
const installed = async (environment: Environment) => {
  const app = await addApp(platform, user)
  await addEmbeddedVersion(platform, app, { scopes: wide })
  return { app, id: await installEmbedded(platform, app, user, { environment }) }
}
const openedCode = async (id: string): Promise<string> =>
  (await issueInstallSessionCode(platform, trace, await sessionOf(platform, user), id)).code
const exchange = async (app: AppInWorld, environment: Environment, code: string) => {
  const { clientId } = app[environment]
  return await exchangeInstallSessionCode(platform, trace, { clientId, code, origin: embedOrigin(app) })
}
const scopesOf = async (token: string) => (await authenticateEmbeddedSession(platform, token)).caller?.scopes
const upload = async (app: AppInWorld, version: string, scopes: readonly ScopeName[], steps: readonly VersionStep[]) =>
  await addEmbeddedVersion(platform, app, { version, scopes, steps })

test('an open page loses the scopes that a new live version does not ask for with its next call', async () => {
  const { app, id } = await installed('production')
  const { sessionToken } = await exchange(app, 'production', await openedCode(id))
  await upload(app, '2.0.0', narrow, [])
  expect(await scopesOf(sessionToken)).toEqual(wide)
  await upload(app, '3.0.0', narrow, live)
  expect(await scopesOf(sessionToken)).toEqual(narrow)
})

test('a wider version gives an open page no more than it began with, and a rollback restores that', async () => {
  const { app, id } = await installed('production')
  await upload(app, '2.0.0', narrow, live)
  const began = await exchange(app, 'production', await openedCode(id))
  await upload(app, '3.0.0', wide, live)
  const { sessionToken } = await exchange(app, 'production', await openedCode(id))
  expect([await scopesOf(began.sessionToken), await scopesOf(sessionToken)]).toEqual([narrow, wide])
  const caller = await developmentCaller(platform, app)
  const back = async (version: string) => {
    const asked = { target: { version }, environment: 'production', reason: null, dryRun: false } as const
    await rollBackVersion(platform, trace, caller, asked, null)
    return await scopesOf(sessionToken)
  }
  expect([await back('2.0.0'), await back('3.0.0')]).toEqual([narrow, wide])
})

test('an older code gives the scopes of the version that is live when it is exchanged', async () => {
  const { app, id } = await installed('production')
  const code = await openedCode(id)
  await upload(app, '2.0.0', narrow, live)
  expect((await exchange(app, 'production', code)).scope).toBe('profile:read')
})

test('the page of a development head has the scopes of the head, whatever is live', async () => {
  const { app, id } = await installed('development')
  await upload(app, '2.0.0', wide, [])
  const { sessionToken } = await exchange(app, 'development', await openedCode(id))
  await upload(app, '2.0.0', narrow, [])
  expect(await scopesOf(sessionToken)).toEqual(narrow)
  await upload(app, '3.0.0', wide, [])
  expect(await scopesOf(sessionToken)).toEqual(wide)
})
