import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { uploadVersion } from '../operations/support/owner.ts'
import { keyFromText, totpCode } from '../support/factors.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { signIn } from '../support/sign-in.ts'
import { addApp, addUser, type AppInWorld, authorizeBody, endWorld } from '../support/world.ts'
import { earlier } from './support/earlier.ts'
import { createOperatorWorld, type OperatorWorld } from './support/operator-world.ts'
import {
  hiddenFields,
  leadsTo,
  type PlainBrowser,
  plainBrowser,
  type Seen,
  signedInBrowser,
} from './support/plain-browser.ts'

// How many links and buttons somebody presses for a frequent job. Typing is not counted, and neither are redirects. A link must be on
// the page, and so must the form.

let world: OperatorWorld
let owner: PlainBrowser
let operator: PlainBrowser
let app: AppInWorld
beforeAll(async () => {
  world = await createOperatorWorld()
  owner = await signedInBrowser(world.server.url, world.user)
  operator = await signedInBrowser(world.server.url, world.operator)
  app = await addApp(world.platform, world.user)
  for (const version of ['1.0.0', '1.1.0']) {
    await uploadVersion(world.platform, app, version, ['submit', 'approve', 'activate'])
  }
})
afterAll(async () => await endWorld(world))

/** Counts what is pressed from this page on. */
const from = async (browser: PlainBrowser, start: string) => {
  let seen: Seen = await browser.get(start)
  let clicks = 0
  const arrive = async (answer: Seen): Promise<void> => {
    for (seen = answer; leadsTo(seen) !== null;) seen = await browser.follow(seen)
  }
  return {
    follow: async (href: string) => {
      expect(seen.text).toContain(`href="${href.replaceAll('&', '&amp;')}"`)
      clicks += 1
      await arrive(await browser.get(href))
      expect([href, seen.status]).toEqual([href, 200])
    },
    send: async (action: string, fields: Parameters<PlainBrowser['post']>[1] = {}) => {
      const hidden = hiddenFields(seen.text, action)
      clicks += 1
      await arrive(await browser.post(action, { ...hidden, ...fields }))
      expect([action, seen.status]).toEqual([action, 200])
    },
    text: () => seen.text,
    clicks: () => clicks,
  }
}

test('an app is allowed with one click, signed in', async () => {
  const { clientId, redirectUri, scope, state, codeChallenge } = authorizeBody(app)
  const asked = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope, state }
  const query = new URLSearchParams({ ...asked, code_challenge: codeChallenge, code_challenge_method: 'S256' })
  const { text } = await owner.get(`/oauth/authorize?${query.toString()}`)
  const allowed = await owner.post('/oauth/authorize', { ...hiddenFields(text, '/oauth/authorize'), decision: 'allow' })
  expect(leadsTo(allowed)).toStartWith(`${redirectUri}?code=`)
})

test('an app is installed with two clicks from the list, and uninstalled with three from Home, which ends its access as well', async () => {
  const person = await signedInBrowser(world.server.url, await addUser(world.platform))
  const install = await from(person, '/apps')
  await install.follow(`/apps/${app.slug}/install`)
  await install.send(`/apps/${app.slug}/install`, { place: 'site my-site' })
  expect(install.text()).toContain('You agreed.')
  expect(install.clicks()).toBe(2)
  const end = await from(person, '/')
  await end.follow('/installs')
  const href = /href="(\/installs\/[^"]*\/end)"/.exec(end.text())?.[1] ?? ''
  await end.follow(href)
  await end.send(href)
  expect(end.clicks()).toBe(3)
})

test('an authenticator app is set up with five clicks from Home, with its recovery codes', async () => {
  const setUp = await from(await signedInBrowser(world.server.url, await addUser(world.platform)), '/')
  await setUp.follow('/account')
  await setUp.follow('/account/factors')
  await setUp.follow('/account/factors/totp')
  const key = keyFromText(/id="totp-key"[^>]*>([^<]+)</.exec(setUp.text())?.[1] ?? '')
  await setUp.send('/account/factors/totp', { code: totpCode(key, world.platform.clock.now(), 0) })
  expect(setUp.text()).toContain('id="recovery-codes"')
  await setUp.follow('/account/factors')
  expect(setUp.clicks()).toBe(5)
})

test('several installs are approved with two clicks from Home', async () => {
  const ids: string[] = []
  for (const name of ['Ann', 'Ben', 'Cleo']) {
    const { email: userEmail } = await addUser(world.platform, name)
    const place = { slug: app.slug, userEmail, kind: 'site', resourceSlug: 'my-site' } as const
    ids.push((await createInstall(world.platform, trace, commandLine, place)).id)
  }
  const approve = await from(operator, '/')
  await approve.follow('/desk/installs')
  await approve.send('/desk/installs/approve', { id: ids })
  expect(approve.text().match(/Approved\. The app can now work for this user\./g)).toHaveLength(3)
  expect(approve.clicks()).toBe(2)
})

test('an app is created with two clicks from Home, its first secret with two more, and a redirect URI with one', async () => {
  const create = await from(owner, '/')
  await create.follow('/console/new')
  await create.send('/console/new', { name: 'Few Clicks', slug: 'few-clicks', publisher: '', scopes: ['profile:read'] })
  expect(create.clicks()).toBe(2)
  const at = '/console/few-clicks'
  const uri = await from(owner, at)
  await uri.send(`${at}/redirect-uris`, { uri: 'https://few-clicks.example/callback' })
  expect(uri.text()).toContain('The redirect URI is registered')
  expect(uri.clicks()).toBe(1)
  const secret = await from(owner, at)
  await secret.follow(`${at}/credentials/new?environment=development`)
  await secret.send(`${at}/credentials`, { label: '' })
  expect(secret.text()).toContain('id="secret"')
  expect(secret.clicks()).toBe(2)
})

test('the form of a first version is one click from the list of steps', async () => {
  const upload = await from(owner, '/console/few-clicks')
  await upload.follow('/console/few-clicks/versions/new')
  expect(upload.text()).toContain('type="file"')
  expect(upload.clicks() + 1).toBe(2)
})

test('a secret is rotated with three clicks from the app', async () => {
  const rotate = await from(owner, `/console/${app.slug}`)
  await rotate.follow(`/console/${app.slug}/credentials`)
  await rotate.follow(`/console/${app.slug}/credentials/rotate?environment=production`)
  await rotate.send(`/console/${app.slug}/credentials/rotate`, { graceHours: '24' })
  expect(rotate.text()).toContain('id="secret"')
  expect(rotate.clicks()).toBe(3)
})

test('a webhook is added and tested with four clicks from the app', async () => {
  const add = await from(owner, `/console/${app.slug}`)
  await add.follow(`/console/${app.slug}/webhooks`)
  await add.follow(`/console/${app.slug}/webhooks/new`)
  await add.send(`/console/${app.slug}/webhooks`, { url: 'https://93.184.215.14/hooks', kinds: ['ping'] })
  expect(add.text()).toMatch(/action="[^"]*\/ping[?"][^]*Send a ping/)
  expect(add.clicks() + 1).toBe(4)
})

test('production is rolled back with three clicks from the app', async () => {
  const back = await from(owner, `/console/${app.slug}`)
  await back.follow(`/console/${app.slug}/versions`)
  await back.follow(`/console/${app.slug}/rollbacks/new`)
  await back.send(`/console/${app.slug}/rollbacks`, { reason: '' })
  expect(back.text()).toContain('Production is rolled back')
  expect(back.clicks()).toBe(3)
})

test('a user is disabled with four clicks from Home, invited with two, and a backup takes two', async () => {
  const user = await addUser(world.platform)
  const disable = await from(operator, '/')
  await disable.follow('/desk')
  await disable.follow('/desk/users')
  await disable.follow(`/desk/users/${user.id}/disable`)
  await disable.send(`/desk/users/${user.id}/disable`)
  expect(disable.text()).toContain('The user is disabled')
  expect(disable.clicks()).toBe(4)
  const invite = await from(operator, '/')
  await invite.follow('/desk/users/new')
  await invite.send('/desk/users/new', { email: 'few@clicks.example', name: 'Fay Few' })
  expect(invite.clicks()).toBe(2)
  const backup = await from(operator, '/')
  await backup.follow('/desk/backups')
  await backup.send('/desk/backups', { keep: '30' })
  expect(backup.clicks()).toBe(2)
})

test('a user is invited with three clicks from Home by an operator who has to prove first that it is them', async () => {
  const { platform, server, operator: person } = world
  const browser = plainBrowser(server.url)
  browser.cookies.set('session', (await signIn(earlier(platform, 11), trace, person)).sessionToken)
  const invite = await from(browser, '/')
  await invite.follow('/desk/users/new')
  await invite.send('/account/prove', { password: person.password })
  await invite.send('/desk/users/new', { email: 'later@clicks.example', name: 'Lee Later' })
  expect(invite.text()).toContain('later@clicks.example')
  expect(invite.clicks()).toBe(3)
})
