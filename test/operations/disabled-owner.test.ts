import { expect, test } from 'bun:test'
import { transferApp, setAppStatus } from '../../src/operations/apps/apps.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { signIn } from '../support/sign-in.ts'
import { authenticateAppToken } from '../../src/operations/authenticate.ts'
import { type AppsChoice, setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { refusalOf } from './support/owner.ts'
import { platformOfFile } from '../support/platform-of-file.ts'

// What happens to the apps of a user in the transaction that disables the user.

const platform = await platformOfFile()

const disable = async ({ email }: Login, apps?: AppsChoice, at = platform) =>
  await setUserStatus(at, trace, operator, { email, status: 'disabled', ...(apps === undefined ? {} : { apps }) })
const enable = async ({ email }: Login) => await setUserStatus(platform, trace, operator, { email, status: 'active' })
const appOf = async ({ id }: AppInWorld) => await platform.database.queries.apps.byId(id)
const statusOf = async ({ id }: Login) => (await platform.database.queries.users.byId(id))?.status
const issue = async (app: AppInWorld) =>
  (await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' })).accessToken
const actionsOf = async ({ id }: AppInWorld) =>
  (await platform.database.queries.audit.pageOfApp(id, null, '~', 100)).map(({ action }) => action)

test('the apps of a disabled user are suspended unless another choice is made, and the answer says what ended', async () => {
  const owner = await addUser(platform)
  const [one, two, suspended] = [
    await addApp(platform, owner),
    await addApp(platform, owner),
    await addApp(platform, owner),
  ]
  const before = await issue(suspended)
  await setAppStatus(platform, trace, operator, { slug: suspended.slug, status: 'suspended' })
  await signIn(platform, trace, owner)
  const token = await issue(one)
  const { ended, stopped, apps } = await disable(owner)
  expect(ended).toEqual({ sessions: 1, embeddedSessions: 0 })
  expect(stopped).toEqual({ grants: 0, userTokens: 0, appTokens: 1 })
  expect(apps).toEqual({ suspended: [one.slug, two.slug, suspended.slug].toSorted(), kept: [], transferred: [] })
  for (const dead of [token, before]) expect(await authenticateAppToken(platform, dead)).toBeNull()
  expect(await refusalOf(issue(two))).toBe('app_inactive')
  expect((await actionsOf(one))[0]).toBe('app.suspended')
  expect((await actionsOf(suspended)).filter((action) => action === 'app.suspended')).toHaveLength(1)
})

test('enabling the user activates no app, and says which are suspended', async () => {
  const owner = await addUser(platform)
  const app = await addApp(platform, owner)
  await disable(owner)
  expect((await enable(owner)).apps.suspended).toEqual([app.slug])
  expect((await appOf(app))?.status).toBe('suspended')
})

test('kept apps continue to work; disabling the user again can still suspend them', async () => {
  const owner = await addUser(platform)
  const app = await addApp(platform, owner)
  expect((await disable(owner, { kind: 'keep' })).apps).toMatchObject({ kept: [app.slug], suspended: [] })
  expect(await authenticateAppToken(platform, await issue(app))).not.toBeNull()
  expect((await disable(owner)).apps).toMatchObject({ suspended: [app.slug], kept: [] })
  expect((await appOf(app))?.status).toBe('suspended')
})

test('transferred apps belong to the other user and work as before', async () => {
  const [owner, heir] = [await addUser(platform), await addUser(platform)]
  const app = await addApp(platform, owner)
  const token = await issue(app)
  const { apps } = await disable(owner, { kind: 'transfer', email: heir.email.toUpperCase() })
  expect(apps).toEqual({ suspended: [], kept: [], transferred: [app.slug] })
  expect(await appOf(app)).toMatchObject({ ownerId: heir.id, status: 'active' })
  expect(await authenticateAppToken(platform, token)).not.toBeNull()
  const [row] = await platform.database.queries.audit.pageOfApp(app.id, 'app.transferred', '~', 10)
  expect(JSON.parse(row?.detail ?? '')).toEqual({ from: owner.id, to: heir.id })
})

test('a new owner who is unknown, disabled, the same user or has no room is refused, and nobody is disabled', async () => {
  const [owner, asleep, full] = [await addUser(platform), await addUser(platform), await addUser(platform)]
  const app = await addApp(platform, owner)
  await addApp(platform, full)
  await disable(asleep)
  const narrow = { ...platform, quotas: { ...platform.quotas, apps: 1 } }
  for (const [email, code] of [
    ['nobody@example.com', 'invalid_request'],
    [asleep.email, 'invalid_request'],
    [owner.email, 'invalid_request'],
    [full.email, 'quota_exceeded'],
  ] as const) {
    expect(await refusalOf(disable(owner, { kind: 'transfer', email }, narrow))).toBe(code)
  }
  expect([await statusOf(owner), (await appOf(app))?.ownerId]).toEqual(['active', owner.id])
})

test('an app is transferred to an active user within their quota, and to nobody else', async () => {
  const [owner, heir, asleep] = [await addUser(platform), await addUser(platform), await addUser(platform)]
  const app = await addApp(platform, owner)
  await disable(asleep)
  const transfer = async (email: string, at = platform) =>
    await transferApp(at, trace, operator, { slug: app.slug, email })
  for (const email of ['nobody@example.com', asleep.email]) {
    expect(await refusalOf(transfer(email))).toBe('invalid_request')
  }
  const none = { ...platform, quotas: { ...platform.quotas, apps: 0 } }
  expect(await refusalOf(transfer(heir.email, none))).toBe('quota_exceeded')
  expect((await transfer(heir.email)).ownerId).toBe(heir.id)
  expect((await transferApp(platform, trace, operator, { slug: app.slug, email: owner.email })).ownerId).toBe(owner.id)
})

test('when a transfer races with the disabling of its new owner, no active app ends up with a disabled owner', async () => {
  for (let round = 0; round < 10; round += 1) {
    const [owner, heir] = [await addUser(platform), await addUser(platform)]
    const app = await addApp(platform, owner)
    const transfer = refusalOf(transferApp(platform, trace, operator, { slug: app.slug, email: heir.email }))
    const steps = round % 2 === 0 ? [transfer, disable(heir)] : [disable(heir), transfer]
    await Promise.all(steps)
    const found = await appOf(app)
    expect(found?.ownerId === heir.id ? found.status : 'active').toBe(
      found?.ownerId === heir.id ? 'suspended' : 'active',
    )
  }
})
