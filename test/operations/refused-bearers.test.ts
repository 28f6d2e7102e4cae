import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { exchangeInstallSessionCode, issueInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode } from '../../src/operations/oauth/continue-grant.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { signIn } from '../support/sign-in.ts'
import { recordRefusal, findRefused } from '../../src/operations/refused-token.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addEmbeddedInstall, embedOrigin } from '../support/embedding.ts'
import { openAsOperator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, authorizeBody, exchangeBody } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
const user = await addUser(platform)
const app = await addApp(platform, user)

const events = async () => await auditEvents(platform)
/** The audit event of a refused bearer token. */
const rowOf = async (token: string) => {
  await recordRefusal(platform, trace, await findRefused(platform, trace, token), 'invalid_token')
  return (await events()).at(-1)
}
const nobody = { actorKind: 'anonymous', actorId: null, action: 'bearer.check', outcome: 'refused' }
const of = (environment: 'development' | 'production', target: string) => ({
  ...nobody,
  appId: app.id,
  environment,
  target,
})

test('a refused app token is in the trail of its app, with the secret that minted it', async () => {
  const { accessToken } = await issueAppToken(platform, trace, { ...app.production, scope: 'site:read' })
  const [secret] = await platform.database.queries.credentials.listByClient(app.production.clientId)
  expect(await rowOf(accessToken)).toMatchObject(of('production', secret?.id ?? ''))
})

test('a refused user access token is in the trail of its app, with its grant', async () => {
  const { code, grantId } = await authorize(platform, trace, await sessionOf(platform, user), authorizeBody(app), true)
  const { accessToken } = await exchangeCode(platform, trace, exchangeBody(app, code), null)
  expect(await rowOf(accessToken)).toMatchObject(of('development', grantId))
})

test('a refused embedded session is in the trail of its app, with its install', async () => {
  const install = await addEmbeddedInstall(platform, app, user)
  const { code } = await issueInstallSessionCode(platform, trace, await sessionOf(platform, user), install)
  const exchange = { clientId: app.production.clientId, code, origin: embedOrigin(app) }
  const { sessionToken } = await exchangeInstallSessionCode(platform, trace, exchange)
  expect(await rowOf(sessionToken)).toMatchObject(of('production', install))
})

test('a refused session is recorded with its user, and a token that was never issued without one', async () => {
  const { sessionToken } = await signIn(platform, trace, user)
  expect(await rowOf(sessionToken)).toMatchObject({ ...nobody, appId: null, target: user.id })
  for (const token of ['', 'nonsense', `${sessionToken.slice(0, -1)}${sessionToken.endsWith('0') ? '1' : '0'}`]) {
    expect(await rowOf(token)).toMatchObject({ ...nobody, appId: null, environment: null, target: null })
  }
})

test('an unknown client is refused in the trail of no app, and its claimed ID is not stored', async () => {
  const wrong = { clientSecret: 'wrong', scope: 'site:read' }
  const rowFor = async (clientId: string) => {
    expect(await refusalOf(issueAppToken(platform, trace, { ...wrong, clientId }))).toBe('invalid_client')
    return (await events()).at(-1)
  }
  const { clientId } = app.development
  expect(await rowFor(clientId)).toMatchObject({ appId: app.id, environment: 'development', target: clientId })
  for (const made of ['', 'nonsense', `apc_dev_${'0'.repeat(22)}`]) {
    expect(await rowFor(made)).toMatchObject({ actorKind: 'anonymous', appId: null, environment: null, target: null })
  }
})

test('a refused code names its grant in the trail of its own client, and in no other', async () => {
  const session = await sessionOf(platform, user)
  const { code, grantId } = await authorize(platform, trace, session, authorizeBody(app), true)
  const other = await addApp(platform, user)
  for (const [of, target] of [
    [app, grantId],
    [other, null],
  ] as const) {
    const wrong = { ...exchangeBody(of, code), codeVerifier: 'x'.repeat(43) }
    expect(await refusalOf(exchangeCode(platform, trace, wrong, null))).toBe('invalid_grant')
    expect((await events()).at(-1)).toMatchObject({ appId: of.id, actorId: of.development.clientId, target })
  }
})

test('a refusal stands even if it cannot be recorded', async () => {
  const closed = await openAsOperator(join(temporaryFolder(), 'closed.db'))
  await closed.database.close()
  expect(await recordRefusal(closed, trace, { kind: 'never issued' }, 'invalid_token')).toBeUndefined()
})
