import { expect, test } from 'bun:test'
import { inviteMember, revokeInvitation } from '../../src/operations/apps/members.ts'
import { deleteApp } from '../../src/operations/apps/apps.ts'
import { createResetLink } from '../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser } from '../support/world.ts'
import { earlier } from './support/earlier.ts'
import { hiddenFields, plainBrowser, type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'

// A link with a secret that does not work any more says why to whom it was sent, and nothing to anybody else.

const world = await worldOfFile()
const { platform } = world
const { url } = world.server
const unknown = 'incomplete, or so old that it is not known any more.'

const pathOf = (link: string) => link.slice(link.indexOf('/', 'https://'.length))
const resetLink = async (userId: string, on = platform) =>
  pathOf((await createResetLink(on, trace, operator, userId)).link)
const saidAt = async (path: string, browser: PlainBrowser = plainBrowser(url)) => (await browser.get(path)).text

test('a link to set a password says whether it was used, has expired or was replaced', async () => {
  const user = await addUser(platform)
  const replaced = await resetLink(user.id)
  const link = await resetLink(user.id)
  expect(await saidAt(replaced)).toContain('The link was replaced by a newer one')
  const browser = plainBrowser(url)
  const password = 'four unrelated words here'
  const fields = { ...hiddenFields(await saidAt(link, browser), '/set-password'), password, repeated: password }
  expect((await browser.post('/set-password', fields)).status).toBe(303)
  expect(await saidAt(link)).toContain('The link was used before.')
  const again = await browser.post('/set-password', fields)
  expect([again.status, again.text.includes('The link was used before.')]).toEqual([410, true])
  expect(await saidAt(await resetLink(user.id, earlier(platform, 25 * 60)))).toContain(
    'The link is older than 24 hours.',
  )
})

test('without the whole link nothing is told, and nothing of a disabled account', async () => {
  const user = await addUser(platform)
  const link = await resetLink(user.id)
  expect(await saidAt(link.slice(0, -4))).toContain(unknown)
  expect(await saidAt(link.slice(0, -1) + (link.endsWith('0') ? '1' : '0'))).toContain(unknown)
  await setUserStatus(platform, trace, operator, { userId: user.id, status: 'disabled', apps: { kind: 'keep' } })
  expect(await saidAt(link)).toContain('has ended with a change of the account')
  expect(await saidAt(link)).not.toContain('disabled')
})

const invite = async (on = platform) => {
  const [guest, app] = [await addUser(platform), await addApp(platform, world.user)]
  const input = { slug: app.slug, email: guest.email, role: 'developer', invitedBy: world.user.id } as const
  const { id, link } = await inviteMember(on, trace, operator, input)
  return { id, app, path: pathOf(link), browser: await signedInBrowser(url, guest) }
}

test('an invitation says to the invited account whether it was accepted, revoked or has expired', async () => {
  const { app, path, browser } = await invite()
  expect((await browser.submit(path, '/invitation')).status).toBe(303)
  expect(await saidAt(path, browser)).toContain('You have accepted this invitation before')
  const stranger = await signedInBrowser(url, await addUser(platform))
  expect(await saidAt(path, stranger)).toContain(unknown)
  await deleteApp(platform, trace, operator, app.slug)
  expect(await saidAt(path, browser)).toContain('The app of this invitation was deleted.')

  const other = await invite()
  await revokeInvitation(platform, trace, operator, { slug: other.app.slug, id: other.id })
  expect(await saidAt(other.path, other.browser)).toContain('This invitation was revoked')
  const old = await invite(earlier(platform, 25 * 60))
  expect(await saidAt(old.path, old.browser)).toContain('This invitation is older than 24 hours.')
})

test('people read that an app was deleted, and not that it is suspended', async () => {
  const app = await addApp(platform, world.user)
  await deleteApp(platform, trace, operator, app.slug)
  const asked = {
    response_type: 'code',
    client_id: app.development.clientId,
    redirect_uri: app.redirectUri,
    scope: 'profile:read',
    state: 'state',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }
  const browser = await signedInBrowser(url, world.user)
  const { headers, text } = await browser.get(`/oauth/authorize?${new URLSearchParams(asked).toString()}`)
  const said = new URL(headers.get('location') ?? 'http://none').searchParams.get('error_description') ?? text
  expect(said).toContain('The app was deleted.')
})
