import { expect, test } from 'bun:test'
import { endAppAccess, endUserAccess } from '../../src/operations/end-access.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { authenticateAppToken, authenticateSession, authenticateUserToken } from '../../src/operations/authenticate.ts'
import { signIn } from '../support/sign-in.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addGrant } from '../support/grant-family.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, authorizeBody, exchangeBody, type Login } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'
import { platformOfFile } from '../support/platform-of-file.ts'

const platform = await platformOfFile()

const scene = async () => {
  const user = await addUser(platform)
  return { user, app: await addApp(platform, user) }
}
const codeOf = async (user: Login, app: AppInWorld) =>
  (await authorize(platform, trace, await sessionOf(platform, user), authorizeBody(app), true)).code
const tokensOf = async (user: Login, app: AppInWorld) =>
  await exchangeCode(platform, trace, exchangeBody(app, await codeOf(user, app)), null)
const appTokenOf = async (app: AppInWorld) =>
  (await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })).accessToken
const refresh = async (app: AppInWorld, refreshToken: string) =>
  await refreshTokens(platform, trace, { ...app.development, refreshToken, scope: null }, null)
const rowsOf = async (action: string, target: string) =>
  (await auditEvents(platform)).filter((row) => row.action === action && row.target === target)

const nothing = {
  grants: 0,
  authorizationCodes: 0,
  userTokens: 0,
  appTokens: 0,
  sessions: 0,
  embeddedSessions: 0,
  installSessionCodes: 0,
}

test('ending the access of an app ends its codes, user tokens and app tokens, and counts each', async () => {
  const { user, app } = await scene()
  const other = await addApp(platform, user)
  const [tokens, foreign] = [await tokensOf(user, app), await tokensOf(user, other)]
  const code = await codeOf(user, app)
  const appTokens = [await appTokenOf(app), await appTokenOf(app), await appTokenOf(other)]
  const { ended } = await endAppAccess(platform, trace, operator, app.slug)
  expect(ended).toEqual({ ...nothing, grants: 2, authorizationCodes: 1, userTokens: 1, appTokens: 2 })

  expect(await authenticateUserToken(platform, tokens.accessToken)).toBeNull()
  expect(await refusalOf(refresh(app, tokens.refreshToken))).toBe('invalid_grant')
  expect(await refusalOf(exchangeCode(platform, trace, exchangeBody(app, code), null))).toBe('invalid_grant')
  const live = await Promise.all(appTokens.map(async (token) => (await authenticateAppToken(platform, token)) !== null))
  expect(live).toEqual([false, false, true])
  expect(await authenticateUserToken(platform, foreign.accessToken)).not.toBeNull()

  const [row] = await rowsOf('app.access_ended', app.id)
  expect(JSON.parse(row?.detail ?? '')).toEqual(ended)
  expect(await rowsOf('grant.revoked', tokens.grantId)).toHaveLength(1)
})

test('the client secrets of the app stay valid, so it can get a new token at once', async () => {
  const { app } = await scene()
  await endAppAccess(platform, trace, operator, app.slug)
  expect(await authenticateAppToken(platform, await appTokenOf(app))).not.toBeNull()
})

test('ending the access of a user ends their sessions and grants, and does not change their own apps', async () => {
  const { user, app } = await scene()
  const tokens = await tokensOf(user, app)
  const { sessionToken } = await signIn(platform, trace, user)
  const appToken = await appTokenOf(app)
  const { ended, apps } = await endUserAccess(platform, trace, operator, user)
  expect(ended).toEqual({ ...nothing, sessions: 2, grants: 1, userTokens: 1 })
  expect(apps.map(({ slug }) => slug)).toEqual([app.slug])
  expect(await authenticateSession(platform, sessionToken)).toBeNull()
  expect(await authenticateUserToken(platform, tokens.accessToken)).toBeNull()
  expect(await authenticateAppToken(platform, appToken)).not.toBeNull()
  expect((await endUserAccess(platform, trace, operator, user)).ended).toEqual(nothing)
  expect(await refusalOf(signIn(platform, trace, user))).toBe('done')
})

test('an unknown app or user is refused', async () => {
  expect(await refusalOf(endAppAccess(platform, trace, operator, 'no-such-app'))).toBe('invalid_request')
  expect(await refusalOf(endUserAccess(platform, trace, operator, { email: 'nobody@example.com' }))).toBe(
    'invalid_request',
  )
})

test('more grants than fit into one transaction all end, each with its event', async () => {
  const { user, app } = await scene()
  const session = await sessionOf(platform, user)
  const allow = async () => (await authorize(platform, trace, session, authorizeBody(app), true)).grantId
  const grants = await Promise.all(Array.from({ length: 1_003 }, allow))
  const { ended } = await endAppAccess(platform, trace, operator, app.slug)
  expect(ended).toMatchObject({ grants: 1_003, authorizationCodes: 1_003 })
  const rows = await auditEvents(platform, app)
  const revoked = rows.filter(({ action }) => action === 'grant.revoked').map(({ target }) => target)
  expect(revoked.toSorted()).toEqual(grants.toSorted())
})

test('a grant that is issued between two of these transactions ends as well, even if its ID is lower than the last one', async () => {
  const { user, app } = await scene()
  const session = await sessionOf(platform, user)
  const allow = async () => await authorize(platform, trace, session, authorizeBody(app), true)
  await Promise.all(Array.from({ length: 501 }, allow))
  const { database } = platform
  let transactions = 0
  let late = ''
  const transaction: typeof database.transaction = async (work, options) => {
    transactions += 1
    if (transactions === 2) late = (await addGrant(platform, app, user)).id // its ID is lower than any other
    return await database.transaction(work, options)
  }
  const watched = { ...platform, database: Object.create(database, { transaction: { value: transaction } }) }
  expect((await endAppAccess(watched, trace, operator, app.slug)).ended.grants).toBe(502)
  expect((await database.queries.grants.byId(late))?.revokedAt).not.toBeNull()
})

test('no token of an exchange, refresh or consent that races with the end of access survives it', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { user, app } = await scene()
    const session = await sessionOf(platform, user)
    const pairs = [await tokensOf(user, app), await tokensOf(user, app), await tokensOf(user, app)]
    const codes = [await codeOf(user, app), await codeOf(user, app)]
    const end = async () => void (await endUserAccess(platform, trace, operator, user))
    const consentAndExchange = async () => {
      const { code } = await authorize(platform, trace, session, authorizeBody(app), true)
      return await exchangeCode(platform, trace, exchangeBody(app, code), null)
    }
    const racers: (() => Promise<{ readonly accessToken: string } | void>)[] = [
      ...pairs.map(
        ({ refreshToken }) =>
          async () =>
            await refresh(app, refreshToken),
      ),
      ...codes.map((code) => async () => await exchangeCode(platform, trace, exchangeBody(app, code), null)),
      consentAndExchange,
      // Some begin a few turns later, so that they run into each step of ending access.
      async () => {
        for (let turn = 0; turn < round * 2; turn += 1) await Promise.resolve()
        return await consentAndExchange()
      },
    ]
    racers.splice(round % (racers.length + 1), 0, end)
    const answers = await Promise.allSettled(racers.map(async (race) => await race()))
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []))
    for (const { accessToken } of [...pairs, ...given]) {
      expect(await authenticateUserToken(platform, accessToken)).toBeNull()
    }
    expect(await authenticateSession(platform, (await signIn(platform, trace, user)).sessionToken)).not.toBeNull()
  }
})

test('app tokens that were issued before the end of access do not survive it', async () => {
  const { app } = await scene()
  const before: string[] = []
  const issue = async () => void before.push(await appTokenOf(app))
  const issued = Array.from({ length: 30 }, issue)
  await Promise.all(issued.slice(0, 10))
  const answeredBefore = [...before]
  await Promise.all([endAppAccess(platform, trace, operator, app.slug), ...issued])
  for (const token of answeredBefore) expect(await authenticateAppToken(platform, token)).toBeNull()
})
