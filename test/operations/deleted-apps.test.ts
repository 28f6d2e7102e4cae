import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createApp, deleteApp, undeleteApp, setAppStatus, transferApp } from '../../src/operations/apps/apps.ts'
import { listApps, listOwnApps } from '../../src/operations/apps/lists.ts'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { issueInstallSessionCode, exchangeInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import { listDirectory } from '../../src/operations/directory/directory.ts'
import { listOwnInstalls } from '../../src/operations/installs/lists.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeAll } from '../../src/operations/purge/purge.ts'
import { authenticateAppToken, authenticateEmbeddedSession } from '../../src/operations/authenticate.ts'
import { addEndpoint } from '../../src/operations/webhooks/endpoints.ts'
import { deliverNext, listDueEndpoints } from '../../src/operations/webhooks/deliveries.ts'
import { addEmbeddedInstall, embedOrigin } from '../support/embedding.ts'
import { countRows } from '../support/expired-rows.ts'
import { addFamily } from '../support/grant-family.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { meanwhileOn } from './support/meanwhile.ts'
import { refusalOf, sessionOf, uploadVersion } from './support/owner.ts'
import { faultsIn } from '../support/database-file.ts'

const day = 24 * 3_600_000
let file: string
let platform: Platform
let owner: Login
let app: AppInWorld
let install: string
beforeEach(async () => {
  file = join(temporaryFolder(), 'deleted.db')
  const opened = await openAsOperator(file)
  platform = { ...opened, webhooks: { ...opened.webhooks, check: async () => null } }
  owner = await addUser(platform)
  app = await addApp(platform, owner)
  install = await addEmbeddedInstall(platform, app, owner)
})
afterEach(async () => await platform.database.close())

const remove = async (at = platform) => await deleteApp(at, trace, operator, app.slug)
const bringBack = async (at = platform) => await undeleteApp(at, trace, operator, app.slug)
const activate = async () => await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'active' })
const issue = async () => (await issueAppToken(platform, trace, { ...app.production, scope: 'site:read' })).accessToken
const embeddedCode = async () =>
  (await issueInstallSessionCode(platform, trace, await sessionOf(platform, owner), install)).code
const embeddedSession = async () => {
  const request = { clientId: app.production.clientId, code: await embeddedCode(), origin: embedOrigin(app) }
  return (await exchangeInstallSessionCode(platform, trace, request)).sessionToken
}
const listen = async () => {
  const kinds = ['credential.created', 'app.suspended']
  const endpoint = { slug: app.slug, environment: 'production', url: 'https://hooks.example/', kinds } as const
  return (await addEndpoint(platform, trace, operator, endpoint)).id
}
const actionsOf = async () =>
  (await platform.database.queries.audit.list({ appId: app.id, since: 0, limit: 10_000 })).map(({ action }) => action)
/** Purges as of this moment; returns what was removed and the number of pauses. */
const purgeAt = async (moment: number) => {
  const then = { ...platform, clock: { ...platform.clock, purgeBefore: () => moment } }
  let pauses = 0
  const removed = await purgeAll(
    then,
    trace,
    async () => void (pauses += 1),
    () => false,
  )
  return { removed, pauses }
}

test('deleting an app ends all of its access at once, in frames too, and says how much', async () => {
  const token = await issue()
  const session = await embeddedSession()
  await embeddedCode()
  await addFamily(platform, app, owner, 1)
  const { app: deleted, ended } = await remove()
  expect([deleted.status, deleted.deletedAt === null]).toEqual(['suspended', false])
  // One of the app tokens has uploaded the version.
  expect(ended).toEqual({
    grants: 1,
    authorizationCodes: 0,
    userTokens: 1,
    appTokens: 2,
    sessions: 0,
    embeddedSessions: 1,
    installSessionCodes: 1,
  })
  expect(await authenticateAppToken(platform, token)).toBeNull()
  expect((await authenticateEmbeddedSession(platform, session)).caller).toBeNull()
  expect(await refusalOf(issue())).toBe('app_inactive')
  expect(await actionsOf()).toContain('app.deleted')
  expect((await remove()).app.deletedAt).toBe(deleted.deletedAt)
  expect((await actionsOf()).filter((action) => action === 'app.deleted')).toHaveLength(1)
})

test('a deleted app is shown only in the list of operators', async () => {
  const seen = async () => ({
    own: (await listOwnApps(platform, owner.id)).length,
    opened: await refusalOf(ownedApp(platform, owner.id, app.slug)),
    offered: (await listDirectory(platform, 'everybody', { limit: 10, cursor: null })).data.length,
    installs: (await listOwnInstalls(platform, await sessionOf(platform, owner), { limit: 10, cursor: null })).data
      .length,
  })
  expect(await seen()).toEqual({ own: 1, opened: 'done', offered: 1, installs: 1 })
  await remove()
  expect(await seen()).toEqual({ own: 0, opened: 'route_not_found', offered: 0, installs: 0 })
  expect((await listApps(platform)).map(({ slug, deletedAt }) => [slug, deletedAt !== null])).toEqual([
    [app.slug, true],
  ])
})

test('nothing can be done with a deleted app, and the refusal names the command that brings it back', async () => {
  await remove()
  const wanted = { slug: app.slug, environment: 'development', label: null } as const
  for (const step of [activate, async () => await createCredential(platform, trace, operator, wanted)]) {
    await expect(step()).rejects.toThrow('app-platform app undelete')
  }
})

test('an app that is brought back within 7 days is suspended, and what was issued before stays revoked', async () => {
  const [token, session] = [await issue(), await embeddedSession()]
  await remove()
  expect(await bringBack()).toMatchObject({ status: 'suspended', deletedAt: null })
  expect(await refusalOf(bringBack())).toBe('invalid_request')
  await activate()
  expect(await authenticateAppToken(platform, token)).toBeNull()
  expect((await authenticateEmbeddedSession(platform, session)).caller).toBeNull()
  expect(await authenticateAppToken(platform, await issue())).not.toBeNull()
  expect(await listOwnApps(platform, owner.id)).toHaveLength(1)
})

test('undeleting an app after an interrupted deletion revives nothing', async () => {
  const token = await issue()
  const now = platform.clock.now()
  await platform.database.transaction(async (q) => await q.apps.setDeleted(app.id, now, now))
  await bringBack()
  await activate()
  expect(await authenticateAppToken(platform, token)).toBeNull()
})

test('an app is not brought back after 7 days, nor into an account that is full', async () => {
  const { deletedAt } = (await remove()).app
  const at = (moment: number) => ({ ...platform, clock: { ...platform.clock, now: () => moment } })
  expect(await refusalOf(bringBack(at((deletedAt ?? 0) + 7 * day)))).toBe('invalid_request')
  const full = { ...platform, quotas: { ...platform.quotas, apps: 0 } }
  expect(await refusalOf(bringBack(full))).toBe('quota_exceeded')
  expect(await refusalOf(bringBack(at((deletedAt ?? 0) + 7 * day - 1)))).toBe('done')
})

test('a deleted app no longer counts against the quota of its owner', async () => {
  const narrow = { ...platform, quotas: { ...platform.quotas, apps: 1 } }
  const another = { ownerEmail: owner.email, name: 'Another', slug: 'another', scopes: 'site:read' }
  expect(await refusalOf(createApp(narrow, trace, operator, another))).toBe('quota_exceeded')
  await remove()
  expect(await refusalOf(createApp(narrow, trace, operator, another))).toBe('done')
})

test('no webhook of a deleted app is called, and pending deliveries are sent once it is back', async () => {
  const endpoint = await listen()
  await createCredential(platform, trace, operator, { slug: app.slug, environment: 'production', label: null })
  let calls = 0
  const answering = {
    ...platform,
    webhooks: {
      ...platform.webhooks,
      send: async () => {
        calls += 1
        return { status: 200, error: null, retryAfter: null, headers: {}, answer: '', durationMs: 1 }
      },
    },
  }
  const deliver = async () => await deliverNext(answering, trace, endpoint, AbortSignal.timeout(1_000))
  expect(await listDueEndpoints(platform)).toEqual([endpoint])
  await remove()
  expect([await listDueEndpoints(platform), await deliver(), calls]).toEqual([[], { kind: 'nothing due' }, 0])
  await bringBack()
  expect(await listDueEndpoints(platform)).toEqual([endpoint])
  await deliver()
  expect(calls).toBe(1)
})

test('after 7 days the purge removes everything of the app but its audit, in small batches, and frees its slug', async () => {
  await listen()
  await uploadVersion(platform, app, '9.0.0', ['submit'])
  await createCredential(platform, trace, operator, { slug: app.slug, environment: 'production', label: null })
  await addFamily(platform, app, owner, 600, { expiresAt: platform.clock.now() + 30 * day })
  await addApp(platform, owner)
  const { deletedAt } = (await remove()).app
  const due = (deletedAt ?? 0) + 7 * day
  const taken = { ownerEmail: owner.email, name: 'Again', slug: app.slug, scopes: 'site:read' }
  const take = async () => await createApp(platform, trace, operator, taken)

  expect((await purgeAt(due - 1)).removed.deleted_apps).toBe(0)
  expect(await refusalOf(take())).toBe('invalid_request')

  const { removed, pauses } = await purgeAt(due)
  expect(removed.deleted_apps).toBeGreaterThan(600)
  expect(pauses).toBeGreaterThan(8)
  const tables = ['grants', 'token_pairs', 'authorization_codes', 'installs', 'versions', 'webhook_endpoints'] as const
  expect(await countRows(file, ...tables, 'webhook_secrets', 'webhook_events', 'webhook_deliveries')).toEqual({
    ...Object.fromEntries(tables.map((table) => [table, 0])),
    webhook_secrets: 0,
    webhook_events: 0,
    webhook_deliveries: 0,
  })
  expect(await countRows(file, 'apps', 'clients', 'redirect_uris')).toEqual({ apps: 1, clients: 2, redirect_uris: 2 })
  const actions = await actionsOf()
  expect(actions).toContain('app.created')
  expect(actions.at(-1)).toBe('app.purged')
  expect(await faultsIn(file)).toEqual([])
  expect(await refusalOf(take())).toBe('done')
  expect((await purgeAt(due)).removed.deleted_apps).toBe(0)
})

test('an undeleted app whose publisher was erased meanwhile is activated only once it has another publisher', async () => {
  await remove()
  await eraseUser(platform, trace, operator, { email: owner.email })
  await bringBack()
  expect(await refusalOf(activate())).toBe('invalid_request')
  const heir = await addUser(platform)
  await transferApp(platform, trace, operator, { slug: app.slug, email: heir.email })
  expect(await activate()).toMatchObject({ status: 'active' })
})

test.each([
  ['of a deletion', 2, remove],
  ['of another call that brings it back', 1, bringBack],
] as const)('what is issued after an app was brought back does not end with the rest %s', async (_, moment, end) => {
  if (end === bringBack) await remove()
  let token = ''
  const meanwhile = meanwhileOn(platform, async (transaction) => {
    if (transaction !== moment) return
    await bringBack()
    await activate()
    token = await issue()
  })
  expect(await refusalOf(end(meanwhile))).toBe('invalid_request')
  expect(await authenticateAppToken(platform, token)).not.toBeNull()
})
