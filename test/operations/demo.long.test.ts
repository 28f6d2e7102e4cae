import { expect, test } from 'bun:test'
import { isLocalDemo } from '../../src/operations/server-facts.ts'
import { demoResources, seedDemo } from '../../src/operations/demo/seed-demo.ts'
import { listInstalls } from '../../src/operations/installs/lists.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { listRedirectUris } from '../../src/operations/redirect-uris.ts'
import { listDirectory, readIconOfLive } from '../../src/operations/directory/directory.ts'
import { signIn } from '../support/sign-in.ts'
import { findUser } from '../../src/operations/users/find-user.ts'
import { listEveryVersion } from '../../src/operations/versions/lists.ts'
import { listEndpoints } from '../../src/operations/webhooks/endpoints.ts'
import { createWebhookSender } from '../../src/runtime/webhook-sender.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { networks } from '../support/webhook-world.ts'
import { addUser } from '../support/world.ts'
import { refusalOf } from './support/owner.ts'

const openEmpty = async () => {
  const platform = await openAsOperator(`${temporaryFolder()}/demo.db`)
  return { ...platform, webhooks: createWebhookSender({ resolve, allowed: networks('127.0.0.0/8'), timeoutMs: 1_000 }) }
}
const resolve = async () => []
const seeded = async (...seed: Parameters<typeof seedDemo>) => {
  const demo = await seedDemo(...seed)
  if (demo === null) throw new Error('there is a demo already')
  return demo
}

test('the demo has users who can sign in, apps with versions in every status, and an active and a pending install', async () => {
  const platform = await openEmpty()
  const demo = await seeded(platform, trace, operator, null)
  expect(demo.users).toHaveLength(2)
  for (const user of demo.users) expect((await signIn(platform, trace, user)).user.email).toBe(user.email)
  for (const { owner, kind, slug } of demoResources) {
    const id = (await findUser(platform.database.queries, owner))?.id ?? ''
    expect(await platform.database.queries.resources.find(id, kind, slug)).not.toBeNull()
  }
  expect(demo.apps.map(({ slug }) => slug)).toEqual(['newsletter', 'shop-insights'])
  for (const { slug, development, production } of demo.apps) {
    const [tested, live] = [[development.redirectUri], [production.redirectUri]]
    expect((await listRedirectUris(platform, slug)).redirectUris).toEqual({ development: tested, production: live })
  }
  const versions = await listEveryVersion(platform, 'newsletter')
  expect(Object.fromEntries(versions.map(({ version, status }) => [version, status]))).toEqual({
    '1.0.0': 'superseded',
    '1.1.0': 'active',
    '1.2.0-beta.1': 'rejected',
    '1.2.0': 'approved',
    '1.3.0': 'submitted',
    '1.4.0': 'draft',
  })
  const { data } = await listDirectory(platform, 'everybody', { cursor: null, limit: 10 })
  expect(data.map(({ name, icon }) => [name, icon !== null])).toEqual([['Newsletter Studio', true]])
  const { type, bytes } = await readIconOfLive(platform, Buffer.from(data[0]?.icon?.slice(-64) ?? '', 'hex'))
  expect([type, bytes.length < 1000]).toEqual(['image/png', true])
  const installs = (await listInstalls(platform, null)).map(({ id, approval }) => [id, approval])
  expect(installs.map(([, approval]) => approval)).toEqual(['approved', 'pending'])
  expect(demo.installs.map(({ id, approval }) => [id, approval])).toEqual(installs)
  expect([demo.webhook, await listEndpoints(platform, 'newsletter')]).toEqual([null, []])
  await platform.database.close()
})

test('a demo sends its events to the given URL, and a complete one is left as it is', async () => {
  const platform = await openEmpty()
  expect(await refusalOf(seedDemo(platform, trace, operator, 'https://192.168.1.1/hooks'))).toBe('invalid_request')
  expect(await platform.database.queries.users.count()).toBe(0)
  expect(await isLocalDemo(platform)).toBe(false)
  const url = 'https://127.0.0.1:9/hooks'
  const { webhook } = await seeded(platform, trace, operator, url)
  expect(webhook).toMatchObject({ app: 'newsletter', url })
  expect((await listEndpoints(platform, 'newsletter')).map(({ id }) => id)).toEqual([webhook?.id ?? ''])
  const latest = async () => await platform.database.queries.audit.list({ appId: null, since: 0, limit: 1 })
  const before = await latest()
  expect(await seedDemo(platform, trace, operator, url)).toBeNull()
  expect(await latest()).toEqual(before)
  await platform.database.close()
})

test('a database with other data is refused and gets no demo', async () => {
  const platform = await openEmpty()
  await addUser(platform)
  expect(await refusalOf(seedDemo(platform, trace, operator, null))).toBe('invalid_request')
  expect(await isLocalDemo(platform)).toBe(false)
  await platform.database.close()
})

test('a demo whose making is interrupted at any point goes on to the same demo, and its new passwords and secrets work', async () => {
  const url = 'https://127.0.0.1:9/hooks'
  const ids: string[] = []
  for (let taken = 1; ; taken += 9) {
    const platform = await openEmpty()
    let left = taken
    const { database: whole } = platform
    const database: Platform['database'] = {
      ...whole,
      transaction: async (work, options) => {
        left -= 1
        if (left < 0) throw new Error('interrupted')
        return await whole.transaction(work, options)
      },
    }
    const isWhole = await seedDemo({ ...platform, database }, trace, operator, url).then(
      () => true,
      (error) => {
        expect(String(error)).toContain('interrupted')
        return false
      },
    )
    if (!isWhole) {
      const demo = await seeded(platform, trace, operator, url)
      for (const user of demo.users) expect((await signIn(platform, trace, user)).user.email).toBe(user.email)
      for (const { development, production } of demo.apps)
        for (const client of [development, production])
          expect((await issueAppToken(platform, trace, { ...client, scope: 'site:read' })).scope).toBe('site:read')
      const versions = await listEveryVersion(platform, 'newsletter')
      ids.push(versions.map(({ version, status }) => `${version} ${status}`).join())
      expect((await listInstalls(platform, null)).map(({ approval }) => approval)).toEqual(['approved', 'pending'])
      expect((await listEndpoints(platform, 'newsletter')).map(({ id }) => id)).toEqual([demo.webhook?.id ?? ''])
    }
    await platform.database.close()
    if (isWhole) break
  }
  expect(ids.length).toBeGreaterThan(4)
  expect(new Set(ids).size).toBe(1)
})
