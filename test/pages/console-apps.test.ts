import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createWorld, endWorld, type World } from '../support/world.ts'
import { type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'

// The list of a developer's own apps, and how many an account may have, over plain HTTP.

let world: World
let owner: PlainBrowser
beforeAll(async () => {
  world = await createWorld({ env: { QUOTA_APPS: '2' } })
  owner = await signedInBrowser(world.server.url, world.user)
})
afterAll(async () => await endWorld(world))

const create = async (slug: string) =>
  await owner.submit('/console/new', '/console/new', { name: 'Letters', slug, scopes: ['site:read'] })

test('the list says how many apps the account has of its quota, and the form refuses one too many', async () => {
  expect((await owner.get('/console')).text).toContain('1 of 2 apps')
  expect((await create('second')).status).toBe(303)
  expect((await owner.get('/console')).text).toContain('2 of 2 apps')
  const refused = await create('third')
  expect(refused.status).toBe(409)
  expect(refused.text).toContain('An account can have at most 2 apps')
  expect(refused.text).toContain('QUOTA_APPS')
})
