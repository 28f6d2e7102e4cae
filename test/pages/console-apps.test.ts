import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { call } from '../support/call.ts'
import { appToken } from '../support/world.ts'
import { signedInBrowser } from './support/plain-browser.ts'
import { worldOfFile } from '../support/world-of-file.ts'

// The quotas of an account and an app, as the console shows them, over plain HTTP.

const world = await worldOfFile({ env: { QUOTA_APPS: '2', QUOTA_ARTIFACT_BYTES: '3000' } })
const owner = await signedInBrowser(world.server.url, world.user)

const create = async (slug: string) =>
  await owner.submit('/console/new', '/console/new', { name: 'Letters', slug, scopes: ['site:read'] })

test('the list shows how much of the quota of apps is used, and the form refuses an app above it', async () => {
  expect((await owner.get('/console')).text).toContain('1 of 2 apps')
  expect((await create('second')).status).toBe(303)
  expect((await owner.get('/console')).text).toContain('2 of 2 apps')
  const refused = await create('third')
  expect(refused.status).toBe(409)
  expect(refused.text).toContain('An account can have at most 2 apps')
  expect(refused.text).toContain('QUOTA_APPS')
})

test('the list of versions shows how much of the artifact quota is used, and an upload above it is refused', async () => {
  const { server, app } = world
  const page = async () => (await owner.get(`/console/${app.slug}/versions`)).text.replaceAll(/<[^>]*>|\s+/g, ' ')
  const token = await appToken(server.url, app.development)
  const upload = async (version: string, bytes: number) => {
    const artifact = { filename: 'app.zip', contentBase64: randomBytes(bytes).toString('base64') }
    return await call(server.url, 'POST', '/versions', { token, body: { version, artifact } })
  }
  expect((await upload('1.0.0', 2_048)).status).toBe(201)
  expect(await page()).toContain('The artifacts use 2.0 KiB of 2.9 KiB.')
  const refused = await upload('2.0.0', 2_048)
  expect(refused.status).toBe(409)
  expect(refused.body.error).toMatchObject({
    code: 'quota_exceeded',
    param: 'artifact',
    details: { maximumBytes: 3_000, usedBytes: 2_048 },
    message: expect.stringContaining('at most 2.9 KiB, and 2.0 KiB are used'),
  })
  expect(await page()).toContain('The artifacts use 2.0 KiB of 2.9 KiB.')
})
