import { afterAll, expect, test } from 'bun:test'
import { addMember, removeMember } from '../../src/operations/apps/members.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { addApp, addUser, createWorld, endWorld, type Login } from '../support/world.ts'
import { addOperator } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

// Everybody is led to what they use, and to nothing else.

const world = await createWorld()
afterAll(async () => await endWorld(world))
const { platform, server } = world

/** The names and addresses of the links in a navigation. */
const linksOf = (html: string, label: string): readonly (readonly string[])[] => {
  const [, inside = ''] = html.match(new RegExp(`<nav aria-label="${label}".*?>(.*?)</nav>`, 's')) ?? []
  return [...inside.matchAll(/<a href="([^"]*)".*?>(.*?)<\/a>/gs)].map(([, href = '', words = '']) => [
    words.replaceAll(/<[^>]*>/g, ''),
    href,
  ])
}

const areasOf = async (login: Login, path = '/') =>
  linksOf((await (await signedInBrowser(server.url, login)).get(path)).text, 'Main').map(([name]) => name)

test('somebody without an app of their own is led to apps and to their account, and finds the way to a first one on Home', async () => {
  const user = await addUser(platform)
  expect(await areasOf(user)).toEqual(['Home', 'Apps', 'Account'])
  expect((await (await signedInBrowser(server.url, user)).get('/')).text).toContain('href="/console/new"')
  expect(await areasOf(user, '/console/new')).toEqual(['Home', 'Apps', 'Account', 'Developers'])
})

test('Home offers no first app to somebody who may not create one', async () => {
  const closed = await createWorld({ env: { APP_CREATION: 'operators' } })
  const user = await addUser(closed.platform)
  expect((await (await signedInBrowser(closed.server.url, user)).get('/')).text).not.toContain('/console/new')
  await endWorld(closed)
})

test('Developers is for those who own or work on an app, as long as they do', async () => {
  const [owner, member] = [await addUser(platform), await addUser(platform)]
  const { slug } = await addApp(platform, owner)
  expect(await areasOf(owner)).toEqual(['Home', 'Apps', 'Account', 'Developers'])
  await addMember(platform, trace, commandLine, { slug, email: member.email, role: 'developer' })
  expect(await areasOf(member)).toContain('Developers')
  await removeMember(platform, trace, commandLine, { slug, userId: member.id })
  expect(await areasOf(member)).not.toContain('Developers')
})

test('Desk is for operators', async () => {
  expect(await areasOf(await addOperator(platform, 'Otto Operator'))).toEqual(['Home', 'Apps', 'Account', 'Desk'])
})

test('the area of apps has what is installed, the directory and what is connected, each with the way to the others', async () => {
  const browser = await signedInBrowser(server.url, await addUser(platform))
  for (const path of ['/installs', '/apps', '/account/apps']) {
    expect([path, linksOf((await browser.get(path)).text, 'Apps').map(([, href]) => href)]).toEqual([
      path,
      ['/installs', '/apps', '/account/apps'],
    ])
  }
})

test('a form that is refused is shown with the same navigation', async () => {
  const owner = await addUser(platform)
  await addApp(platform, owner)
  const browser = await signedInBrowser(server.url, owner)
  const refused = await browser.submit('/account/password', '/account/password', {
    current: 'wrong',
    password: 'a much better password',
    repeated: 'another one',
  })
  expect([refused.status, linksOf(refused.text, 'Main').map(([name]) => name)]).toEqual([
    400,
    ['Home', 'Apps', 'Account', 'Developers'],
  ])
})
