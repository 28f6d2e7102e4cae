import { expect, test } from 'bun:test'
import { deleteApp, renameApp } from '../../src/operations/apps/apps.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { uploadVersion } from '../operations/support/owner.ts'
import { addApp, addUser, appToken, signIn } from '../support/world.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

// What operators see and decide about apps and their owners, over plain HTTP.

const world = await operatorWorldOfFile()
const desk = await signedInBrowser(world.server.url, world.operator)

const scene = async () => {
  const owner = await addUser(world.platform, 'Dora Developer')
  const app = await addApp(world.platform, owner)
  return { owner, app, path: `/desk/users/${owner.id}` }
}
const appOf = async (id: string) => await world.platform.database.queries.apps.byId(id)
const statusOf = async (id: string) => (await world.platform.database.queries.users.byId(id))?.status
/** The page as text, with one space between words. */
const words = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

test('the page that disables a user counts what would end, and suspends their apps by default', async () => {
  const { owner, app, path } = await scene()
  await signIn(world.server.url, owner)
  await appToken(world.server.url, app.development)
  const { text } = await desk.get(`${path}/disable`)
  expect(text).toMatch(/name="apps" value="suspend" checked/)
  for (const count of [
    '1 session ends',
    'No user token stops working',
    '1 app belongs to them',
    '1 app token of these apps',
  ]) {
    expect(words(text)).toContain(count)
  }
  expect((await desk.submit(path, `${path}/disable`)).headers.get('location')).toBe(`${path}?done=disable`)
  expect([await statusOf(owner.id), (await appOf(app.id))?.status]).toEqual(['disabled', 'suspended'])

  const enabled = await desk.submit(path, `${path}/enable`)
  const location = enabled.headers.get('location') ?? ''
  expect((await desk.get(location, { 'sec-fetch-site': 'same-origin' })).text).toContain('stay suspended')
  expect((await appOf(app.id))?.status).toBe('suspended')
})

test('the form can keep the apps or give them to another active user', async () => {
  const [kept, given] = [await scene(), await scene()]
  await desk.submit(kept.path, `${kept.path}/disable`, { apps: 'keep' })
  expect((await appOf(kept.app.id))?.status).toBe('active')
  const to = world.colleague.email
  const { headers } = await desk.submit(given.path, `${given.path}/disable`, { apps: 'transfer', to })
  const { text } = await desk.get(headers.get('location') ?? '', { 'sec-fetch-site': 'same-origin' })
  expect(text).toContain('ask the new owner to rotate them')
  expect(await appOf(given.app.id)).toMatchObject({ ownerId: world.colleague.id, status: 'active' })
})

test('a new owner who cannot own the apps is refused next to the field, and the user stays enabled', async () => {
  const { owner, app, path } = await scene()
  const { status, text } = await desk.submit(path, `${path}/disable`, { apps: 'transfer', to: 'nobody@example.com' })
  expect(status).toBe(400)
  expect(text).toContain('id="to-fault"')
  expect([await statusOf(owner.id), (await appOf(app.id))?.ownerId]).toEqual(['active', owner.id])
})

test('the desk marks a deleted app, and restores it suspended', async () => {
  const { app } = await scene()
  const path = `/desk/apps/${app.slug}`
  await deleteApp(world.platform, trace, commandLine, app.slug)
  const { text } = await desk.get(path)
  expect(words(text)).toContain('Newsletter Deleted')
  expect([...text.matchAll(/(?:action|href)="(\/desk\/apps\/[^"]+)"/g)].map(([, to]) => to)).toEqual([
    `${path}/undelete`,
  ])
  for (const part of ['settings', 'credentials', 'delete', 'transfer']) {
    expect((await desk.get(`${path}/${part}`)).status).toBe(404)
  }
  expect(words((await desk.get(`/desk/apps?q=${app.slug}`)).text)).toContain('Deleted')
  await desk.submit(path, `${path}/undelete`)
  expect(await appOf(app.id)).toMatchObject({ status: 'suspended', deletedAt: null })
})

test('a name that mixes scripts is marked on the page of the app and in its review', async () => {
  const { app } = await scene()
  await uploadVersion(world.platform, app, '1.0.0', ['submit'])
  const pages = [`/desk/apps/${app.slug}`, `/desk/reviews/${app.slug}/1.0.0`]
  for (const path of pages) expect((await desk.get(path)).text).not.toContain('mixes scripts')
  await renameApp(world.platform, trace, commandLine, { slug: app.slug, name: 'Newslettеr' })
  for (const path of pages) expect(words((await desk.get(path)).text)).toContain('Cyrillic: е')
})
