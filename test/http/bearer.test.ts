import { expect, test } from 'bun:test'
import { appOf, bearer, requireBearer, userOrPageOf } from '../../src/http/bearer.ts'
import type { Door } from '../../src/http/door.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode } from '../../src/operations/oauth/continue-grant.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { signIn } from '../support/sign-in.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { refusalOf, sessionOf } from '../operations/support/owner.ts'
import { trace } from '../support/operator.ts'
import { addApp, addUser, authorizeBody, exchangeBody } from '../support/world.ts'
import { callWith, doorOf } from './support/door.ts'

const platform = await platformOfFile()
const user = await addUser(platform)
const app = await addApp(platform, user)

const bearing = (token: string) =>
  callWith(new Request('http://localhost/', { headers: { authorization: `Bearer ${token}` } }))
const appToken = async (of = app) =>
  (await issueAppToken(platform, trace, { ...of.development, scope: 'site:read' })).accessToken
const userToken = async () => {
  const { code, grantId } = await authorize(platform, trace, await sessionOf(platform, user), authorizeBody(app), true)
  return { token: (await exchangeCode(platform, trace, exchangeBody(app, code), null)).accessToken, grantId }
}
/** The caller behind the token, and the IDs that the log line names. */
const callBy = async (token: string, door: Door = doorOf(platform)) => {
  const call = bearing(token)
  return { caller: await bearer('appToken').admit(door, call, 'read'), call }
}

test('a refused bearer token is counted under the kind that its prefix claims', async () => {
  const counted: string[] = []
  const observe = { ...platform.observe, refused: (kind: string) => void counted.push(kind) }
  const door = doorOf({ ...platform, observe })
  for (const token of ['apat_a', 'apua_a', 'apus_a', 'apes_a', 'apur_a', 'aps_dev_a', 'a', '']) {
    expect(await refusalOf((async () => await requireBearer(door, bearing(token), 'invalid_token'))())).toBe(
      'invalid_token',
    )
  }
  const claimed = ['app_token', 'user_tokens', 'session', 'embedded_session']
  expect(counted).toEqual([...claimed, ...Array(4).fill('unknown')])
})

test('calls of an app and calls for its users count against one share, which no other app uses', async () => {
  const door = doorOf(platform, { read: { count: 2, seconds: 600 } })
  const [own, users] = [await appToken(), (await userToken()).token]
  const others = await appToken(await addApp(platform, user))
  const { sessionToken } = await signIn(platform, trace, user)
  const answers = []
  for (const token of [own, users, own, users, others, sessionToken]) answers.push(await refusalOf(callBy(token, door)))
  expect(answers).toEqual(['done', 'done', 'rate_limited', 'rate_limited', 'done', 'done'])
})

test('the log names each caller by ID, and each kind of token has its own permissions', async () => {
  const { clientId } = app.development
  const byApp = await callBy(await appToken())
  expect(byApp.call.notes).toEqual({ appId: app.id, clientId })
  expect<unknown>(appOf(byApp.caller)).toBe(byApp.caller)
  expect(() => userOrPageOf(byApp.caller)).toThrow()

  const { token, grantId } = await userToken()
  const byUser = await callBy(token)
  expect(byUser.call.notes).toEqual({ userId: user.id, appId: app.id, clientId, grantId })
  expect<unknown>(userOrPageOf(byUser.caller)).toBe(byUser.caller)
  expect(() => appOf(byUser.caller)).toThrow()

  const bySession = await callBy((await signIn(platform, trace, user)).sessionToken)
  expect(bySession.call.notes).toEqual({ userId: user.id })
  expect(() => appOf(bySession.caller)).toThrow()
  expect(() => userOrPageOf(bySession.caller)).toThrow()
})
