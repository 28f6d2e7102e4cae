import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { timeKeyAt, timeKeyInDigits } from '../../src/domain/time-key.ts'
import { authenticateAppToken, authenticateUserToken } from '../../src/operations/authenticate.ts'
import { openClock, openRandom } from '../../src/operations/clock.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, authorizeBody, exchangeBody } from '../support/world.ts'
import { sessionOf } from './support/owner.ts'
import { platformOfFile } from '../support/platform-of-file.ts'

const file = join(temporaryFolder(), 'time-keys.db')
const platform = await platformOfFile(file)
const user = await addUser(platform)
const app = await addApp(platform, user)

const keyOf = (secret: string) => timeKeyInDigits(secret.slice(5, 27)) ?? timeKeyAt(0)
const issue = async (by: Platform) =>
  (await issueAppToken(by, trace, { ...app.development, scope: 'site:read' })).accessToken

/** The platform, whose generator first repeats these keys. */
const repeating = (secrets: readonly string[]): Platform => {
  const taken = secrets.map(keyOf)
  const random = { ...platform.random, timeKey: (now: number) => taken.shift() ?? platform.random.timeKey(now) }
  return { ...platform, random }
}

test('an app token whose key is taken gets the next one, and leaves the other token as it is', async () => {
  const first = await issue(platform)
  const second = await issue(repeating([first, first]))
  expect(keyOf(second)).toBeGreaterThan(keyOf(first))
  for (const token of [first, second]) expect(await authenticateAppToken(platform, token)).not.toBeNull()
})

test('a code and a pair whose key is taken get the next one, and each is still spent once', async () => {
  const consent = async (by: Platform) =>
    await authorize(by, trace, await sessionOf(platform, user), authorizeBody(app), true)
  const exchange = async (by: Platform, code: string) => await exchangeCode(by, trace, exchangeBody(app, code), null)
  const first = await consent(platform)
  const second = await consent(repeating([first.code]))
  expect(second.grantId).not.toBe(first.grantId)
  const tokens = await exchange(platform, first.code)
  const others = await exchange(repeating([tokens.accessToken]), second.code)
  expect([tokens.grantId, others.grantId]).toEqual([first.grantId, second.grantId])
  const next = await refreshTokens(
    repeating([others.accessToken]),
    trace,
    { ...app.development, refreshToken: others.refreshToken, scope: null },
    null,
  )
  for (const { accessToken } of [tokens, next])
    expect(await authenticateUserToken(platform, accessToken)).not.toBeNull()
  expect(await authenticateUserToken(platform, others.accessToken)).toBeNull()
  await expect(exchange(platform, second.code)).rejects.toMatchObject({ code: 'invalid_grant' })
})

test('a process continues after the keys in the database, but not after keys of a clock that was far ahead', async () => {
  const token = await issue(platform)
  const clock = await openClock(platform.database)
  const again = { ...clock, now: () => platform.clock.now() - 60_000 }
  const ahead = { ...platform.clock, now: () => platform.clock.now() + 3_600_000 }
  expect((await openRandom(platform.database, clock)).timeKey(0)).toBeGreaterThan(keyOf(token))
  const future = await issue({ ...platform, clock: ahead, random: await openRandom(platform.database, ahead) })
  const random = await openRandom(platform.database, again)
  expect(random.timeKey(again.now())).toBeLessThan(keyOf(future))
})
