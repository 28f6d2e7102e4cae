import { afterAll, beforeAll, expect, test } from 'bun:test'
import { renameApp } from '../../src/operations/apps/change-app.ts'
import { createCredential, revokeCredential } from '../../src/operations/credentials/change-credentials.ts'
import { addRedirectUri } from '../../src/operations/redirect-uris.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { addApp, addUser, endWorld, signIn } from '../support/world.ts'
import { createOperatorWorld, type OperatorWorld } from './support/operator-world.ts'
import { type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'

// Lists that are usually short: they offer a search when they are not. And what stands around a confirmation.

let world: OperatorWorld
let owner: PlainBrowser
beforeAll(async () => {
  world = await createOperatorWorld()
  owner = await signedInBrowser(world.server.url, world.user)
})
afterAll(async () => await endWorld(world))

const isSearchable = (text: string): boolean => text.includes('type="search"')

test('a list of sessions can be searched by browser and address when it is long', async () => {
  const person = await addUser(world.platform, 'Many Browsers')
  const browser = await signedInBrowser(world.server.url, person)
  expect(isSearchable((await browser.get('/account/sessions')).text)).toBe(false)
  for (let signedIn = 0; signedIn < 6; signedIn += 1) await signIn(world.server.url, person)
  expect(isSearchable((await browser.get('/account/sessions')).text)).toBe(true)
  const found = await browser.get('/account/sessions?q=127.0')
  expect(found.text.match(/End session/g)).toHaveLength(6)
  const none = await browser.get('/account/sessions?q=%25')
  expect([none.text.includes('Nothing matches'), none.text.includes('End session')]).toEqual([true, false])
})

test('ended secrets are found by their label', async () => {
  const { slug } = await addApp(world.platform, world.user)
  for (const label of ['backend', 'worker', 'laptop', 'phone', 'tablet', 'desk_1']) {
    const { id } = await createCredential(world.platform, trace, commandLine, {
      slug,
      environment: 'production',
      label,
    }).catch(() => ({ id: '' }))
    if (id !== '') await revokeCredential(world.platform, trace, commandLine, id)
  }
  const path = `/console/${slug}/credentials/ended`
  expect(isSearchable((await owner.get(path)).text)).toBe(true)
  const { text } = await owner.get(`${path}?q=K_1`)
  expect([text.includes('desk_1'), text.includes('worker')]).toEqual([true, false])
})

test('the audit log of an app says how many events match', async () => {
  const { slug } = await addApp(world.platform, world.user)
  for (let name = 1; name <= 60; name += 1) {
    await renameApp(world.platform, trace, commandLine, { slug, name: `Name ${name}` })
  }
  expect((await owner.get(`/console/${slug}/trail?action=app.renamed`)).text).toContain('50 of 60 shown')
  expect((await owner.get(`/console/${slug}/trail?action=app.renamed&since=2000-01-01`)).text).toContain('50 of 60')
  expect((await owner.get(`/console/${slug}/trail?action=app.renamed&until=2000-01-01`)).text).not.toContain(' of 60')
})

test('a confirmation page has the pages of its area around it, with the one that leads to it as the current one', async () => {
  const { slug } = await addApp(world.platform, world.user)
  const uri = `https://${slug}.example/more`
  await addRedirectUri(world.platform, trace, commandLine, { slug, environment: 'development', uri })
  const query = new URLSearchParams({ environment: 'development', uri }).toString()
  const { text } = await owner.get(`/console/${slug}/redirect-uris/remove?${query}`)
  expect(text).toContain(`<a href="/console/${slug}/redirect-uris" aria-current="page">`)
  const account = await owner.get('/account/sessions/end-others')
  expect(account.text).toContain('<a href="/account/sessions" aria-current="page">')
  const desk = await signedInBrowser(world.server.url, world.operator)
  const question = await desk.get(`/desk/apps/${slug}/suspend`)
  expect(question.text).toContain('<a href="/desk/apps" aria-current="page">')
})

test('only what ends something or cannot be undone is red', async () => {
  const { slug } = await addApp(world.platform, world.user)
  const desk = await signedInBrowser(world.server.url, world.operator)
  const isRed = async (path: string) =>
    /<button type="submit" class="danger primary">/.test((await desk.get(path)).text)
  expect(await isRed(`/desk/apps/${slug}/transfer`)).toBe(false)
  expect(await isRed(`/desk/users/${world.user.id}/confirm-password`)).toBe(false)
  expect(await isRed(`/desk/apps/${slug}/delete`)).toBe(true)
})
