import { expect, test } from 'bun:test'
import { exchangeInstallSessionCode, issueInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { revokeByClient } from '../../src/operations/oauth/revoke.ts'
import { authenticateEmbeddedSession } from '../../src/operations/authenticate.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addEmbeddedInstall, embedOrigin } from '../support/embedding.ts'
import { trace } from '../support/operator.ts'
import { addApp, addUser } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
const user = await addUser(platform)
const app = await addApp(platform, user)
const install = await addEmbeddedInstall(platform, app, user)

const freshCode = async (): Promise<string> =>
  (await issueInstallSessionCode(platform, trace, await sessionOf(platform, user), install)).code
const exchange = async (code: string): Promise<string> => {
  const request = { clientId: app.production.clientId, code, origin: embedOrigin(app) }
  return (await exchangeInstallSessionCode(platform, trace, request)).sessionToken
}
const freshSession = async (): Promise<string> => await exchange(await freshCode())
const isAlive = async (token: string): Promise<boolean> =>
  (await authenticateEmbeddedSession(platform, token)).caller !== null

/** The actors and outcomes of this action in the trail of the install. */
const trailOf = async (action: string) =>
  (await auditEvents(platform, app))
    .filter((event) => event.action === action)
    .map(({ actorId, environment, target, outcome }) => ({ actorId, environment, target, outcome }))
const byTheApp = () => ({
  actorId: app.production.clientId,
  environment: 'production' as const,
  target: install,
  outcome: 'done' as const,
})

test('an app that revokes an embedded session ends only that session, which is recorded once', async () => {
  const [one, two] = [await freshSession(), await freshSession()]
  await revokeByClient(platform, trace, app.production, one)
  await revokeByClient(platform, trace, app.production, one)
  expect([await isAlive(one), await isAlive(two)]).toEqual([false, true])
  expect(await trailOf('embedded_session.revoked')).toEqual([byTheApp()])
})

test('an install-session code that its app revokes gives no session, and is recorded once', async () => {
  const code = await freshCode()
  await revokeByClient(platform, trace, app.production, code)
  await revokeByClient(platform, trace, app.production, code)
  expect(await refusalOf(exchange(code))).toBe('invalid_grant')
  expect(await trailOf('install_session_code.revoked')).toEqual([byTheApp()])
})

test('another client can revoke neither, and both keep working', async () => {
  const [session, code] = [await freshSession(), await freshCode()]
  for (const client of [app.development, (await addApp(platform, user)).production]) {
    for (const token of [session, code]) {
      expect(await refusalOf(revokeByClient(platform, trace, client, token))).toBe('token_not_owned')
    }
  }
  expect([await isAlive(session), await isAlive(await exchange(code))]).toEqual([true, true])
})
