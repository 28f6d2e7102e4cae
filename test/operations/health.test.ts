import { expect, test } from 'bun:test'
import { readHealth } from '../../src/operations/health/health.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { signIn } from '../support/sign-in.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { onPostgres } from '../support/postgres.ts'
import { fillWithAppTokens } from '../support/expired-rows.ts'
import { operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, authorizeBody } from '../support/world.ts'
import { sessionOf } from './support/owner.ts'
import { platformOfFile } from '../support/platform-of-file.ts'

const file = `${temporaryFolder()}/app-platform.db`
const platform = await platformOfFile(file)
const user = await addUser(platform)
const app = await addApp(platform, user)

const later = (ms: number): Platform => ({
  ...platform,
  clock: { ...platform.clock, now: () => platform.clock.now() + ms },
})

test('a new store takes writes, has no purge lag, and reports the version of SQLite', async () => {
  const health = await readHealth(platform)
  expect(health).toMatchObject({ writable: true, conditions: [], purgeLagSeconds: 0, backupAgeSeconds: null })
  expect(health).toMatchObject({ lockWaits: 0, failedCheckpoints: 0, restoredAt: null })
  expect(health.engineVersion).toMatch(onPostgres ? /^\d{2}\.\d+/ : /^3\.\d+\.\d+$/)
  expect(health.databaseBytes).toBeGreaterThan(0)
  expect(health.transactions).toBeGreaterThanOrEqual(health.commits)
  const none = { count: 0, exact: true }
  expect(health.live).toEqual({ appTokens: none, sessions: none, grants: none })
})

test('only what has not ended or expired is counted', async () => {
  await signIn(platform, trace, user)
  await signIn(platform, trace, user)
  await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })
  const { live } = await readHealth(platform)
  expect([live.sessions.count, live.appTokens.count]).toEqual([2, 1])
  expect((await readHealth(later(3_600_001))).live.appTokens.count).toBe(0)
  expect((await readHealth(later(12 * 3_600_001))).live.sessions.count).toBe(0)
  await setUserStatus(platform, trace, operator, { email: user.email, status: 'disabled', apps: { kind: 'keep' } })
  expect((await readHealth(platform)).live.sessions).toEqual({ count: 0, exact: true })
  await setUserStatus(platform, trace, operator, { email: user.email, status: 'active' })
})

test('counts stop at a limit, beginning with the newest rows, and say that there are more', async () => {
  const credentialId = (await platform.database.queries.credentials.listByClient(app.production.clientId))[0]?.id ?? ''
  await fillWithAppTokens(file, { count: 10_500, credentialId, createdAt: platform.clock.now() - 60_000 })
  expect((await readHealth(platform)).live.appTokens).toEqual({ count: 10_000, exact: false })
  const session = await sessionOf(platform, user)
  for (let grants = 0; grants < 3; grants += 1) await authorize(platform, trace, session, authorizeBody(app), true)
  const { health } = platform.database.queries
  const now = platform.clock.now()
  for (const [rows, exact] of [
    [2, false],
    [3, true],
  ] as const) {
    expect((await health.liveSessions(now, rows)).exact).toBe(exact)
    expect(await health.liveGrants(now, rows)).toEqual({ count: rows, exact })
  }
})
