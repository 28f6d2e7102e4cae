import { expect, test } from 'bun:test'
import { mostDeviceFailures } from '../../src/domain/device.ts'
import { exchangeInstallSessionCode, issueInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { signIn } from '../support/sign-in.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { addEmbeddedInstall, embedOrigin } from '../support/embedding.ts'
import { trace } from '../support/operator.ts'
import { watchStore } from '../support/watched-store.ts'
import { addApp, addUser, authorizeBody, exchangeBody } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const platform = await platformOfFile()
const user = await addUser(platform)
const app = await addApp(platform, user)

const codeOfUser = async () =>
  (await authorize(platform, trace, await sessionOf(platform, user), authorizeBody(app), true)).code
const refresh = async (on: Platform, refreshToken: string, scope: string | null = null) =>
  await refreshTokens(on, trace, { ...app.development, refreshToken, scope }, null)

/** Does the work, which is refused, and returns the audit actions that its first transaction wrote after the change. */
const recordedWith = async (change: string, work: (on: Platform) => Promise<unknown>) => {
  const told: string[] = []
  const seen = (await events()).length
  const refusal = await refusalOf(
    work({ ...platform, database: watchStore(platform.database, (what) => told.push(what)) }),
  )
  const afterChange = told.slice(told.indexOf(change) + 1)
  const nextTransaction = afterChange.indexOf('transaction')
  const rest = nextTransaction === -1 ? afterChange : afterChange.slice(0, nextTransaction)
  const rows = rest.filter((what) => what.startsWith('audit.insert')).length
  expect(told).toContain(change)
  return { refusal, actions: (await events()).slice(seen, seen + rows).map(({ action }) => action) }
}
const events = async () => await auditEvents(platform)

test('a spent secret revokes its grant and records that in one transaction', async () => {
  const { refreshToken } = await exchangeCode(platform, trace, exchangeBody(app, await codeOfUser()), null)
  await refresh(platform, (await refresh(platform, refreshToken)).refreshToken)
  expect(await recordedWith('grants.revoke +', async (on) => await refresh(on, refreshToken))).toEqual({
    refusal: 'invalid_grant',
    actions: ['grant.reuse_detected'],
  })
})

test('a refused attempt closes the retry window and records that in one transaction, and a second one only counts', async () => {
  const { refreshToken } = await exchangeCode(platform, trace, exchangeBody(app, await codeOfUser()), 'retry-1')
  const attempt = async (on: Platform) => await refresh(on, refreshToken, 'nothing')
  expect(await recordedWith('grants.closeRetry +', attempt)).toEqual({
    refusal: 'invalid_scope',
    actions: ['refresh_token.rotate'],
  })
  const silent = { ...platform, refusals: { ...platform.refusals, admit: () => false } }
  const before = (await events()).length
  expect(await refusalOf(attempt(silent))).toBe('invalid_scope')
  expect(await events()).toHaveLength(before)
})

test('a spent install-session code ends its session and records that in one transaction', async () => {
  const install = await addEmbeddedInstall(platform, app, user)
  const { code } = await issueInstallSessionCode(platform, trace, await sessionOf(platform, user), install)
  const exchange = { clientId: app.production.clientId, code, origin: embedOrigin(app) }
  await exchangeInstallSessionCode(platform, trace, exchange)
  const elsewhere = { ...trace, address: '203.0.113.77' }
  const again = async (on: Platform) => await exchangeInstallSessionCode(on, elsewhere, exchange)
  expect(await recordedWith('embedding.endSession +', again)).toEqual({
    refusal: 'invalid_grant',
    actions: ['install_session_code.reuse_detected'],
  })
})

test('the last wrong password from a known browser makes it unknown and records that in one transaction', async () => {
  const { newDevice: device } = await signIn(platform, trace, user)
  const wrong = async (on: Platform) =>
    await signIn(on, trace, { ...user, password: 'a wrong password' }, { agent: null, device })
  for (let failures = 1; failures < mostDeviceFailures; failures += 1) await refusalOf(wrong(platform))
  expect(await recordedWith('devices.end +', wrong)).toEqual({ refusal: 'invalid_login', actions: ['device.ended'] })
})
