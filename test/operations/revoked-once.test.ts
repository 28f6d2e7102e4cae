import { beforeAll, expect, test } from 'bun:test'
import { authenticateAppToken } from '../../src/operations/authenticate.ts'
import { listCredentials, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { revokeByClient, revokeByToken } from '../../src/operations/oauth/revoke.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld } from '../support/world.ts'

const platform = await platformOfFile()
let app: AppInWorld
beforeAll(async () => {
  app = await addApp(platform, await addUser(platform))
})

const later = (): Platform => ({
  ...platform,
  clock: { ...platform.clock, now: () => platform.clock.now() + 60_000 },
})
const countOf = async (action: string) =>
  (await auditEvents(platform, app)).filter((event) => event.action === action).length

test('an app token that is revoked twice ended the first time, and is recorded once', async () => {
  const { accessToken } = await issueAppToken(platform, trace, { ...app.production, scope: 'site:read' })
  await revokeByClient(platform, trace, app.production, accessToken)
  await revokeByClient(later(), trace, app.production, accessToken)
  expect(await countOf('app_token.revoked')).toBe(1)
})

test('an app token that revokes itself twice ended the first time, and is recorded once', async () => {
  const before = await countOf('app_token.revoked')
  const { accessToken } = await issueAppToken(platform, trace, { ...app.production, scope: 'site:read' })
  const caller = await authenticateAppToken(platform, accessToken)
  if (caller === null) throw new Error('no caller')
  await revokeByToken(platform, trace, caller)
  expect(await authenticateAppToken(platform, accessToken)).toBeNull()
  await revokeByToken(later(), trace, caller)
  expect(await countOf('app_token.revoked')).toBe(before + 1)
})

test('presenting a secret records the use of that secret only', async () => {
  await issueAppToken(platform, trace, { ...app.production, scope: 'site:read' })
  const used = (await listCredentials(platform, app.slug)).filter(({ lastUsedAt }) => lastUsedAt !== null)
  expect(used.map(({ environment }) => environment)).toEqual(['production'])
})

test('a secret that is revoked twice ended the first time, and is recorded once', async () => {
  const [first] = await listCredentials(platform, app.slug)
  const revoked = await revokeCredential(platform, trace, operator, first?.id ?? '')
  const again = await revokeCredential(later(), trace, operator, first?.id ?? '')
  expect(again.revokedAt).toBe(revoked.revokedAt)
  expect(await countOf('credential.revoked')).toBe(1)
})
