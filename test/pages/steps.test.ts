import { describe, expect, test } from 'bun:test'
import { addMember } from '../../src/operations/apps/members.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { operator, trace } from '../support/operator.ts'
import { uploadVersion } from '../operations/support/owner.ts'
import { addApp, addUser, grantTokens, installApp } from '../support/world.ts'
import { earlier } from './support/earlier.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { plainBrowser, type PlainBrowser, type Seen, signedInBrowser } from './support/plain-browser.ts'
import { signIn } from '../support/sign-in.ts'

// The page of a step has its button only while the step is possible. Otherwise it says what is the case, and leads back.

const world = await operatorWorldOfFile()
const { platform } = world
const { url } = world.server
const desk = await signedInBrowser(url, world.operator)

const mainOf = ({ text }: Seen) => text.slice(text.indexOf('<main'), text.indexOf('</main>'))

const expectOnlySaid = async (browser: PlainBrowser, step: string, sentence: string): Promise<void> => {
  const seen = await browser.get(step)
  expect([step, seen.status, mainOf(seen).includes(sentence)]).toEqual([step, 200, true])
  expect(mainOf(seen)).not.toContain('<form')
  expect(mainOf(seen)).toMatch(/<a class="button" href="[^"]+">Go back<\/a>/)
}

/** Does the step, and opens its page again. */
const expectSaidAfterwards = async (
  browser: PlainBrowser,
  step: string,
  sentence: string,
  typed = '',
): Promise<void> => {
  expect([step, mainOf(await browser.get(step)).includes('<button type="submit"')]).toEqual([step, true])
  expect([step, (await browser.submit(step, step, { typed })).status]).toEqual([step, 303])
  await expectOnlySaid(browser, step, sentence)
}

describe('what has happened is not asked for again', () => {
  test('about a user', async () => {
    const user = await addUser(platform)
    const path = `/desk/users/${user.id}`
    await expectOnlySaid(desk, `${path}/confirm`, 'This user is not suspended.')
    await expectOnlySaid(desk, `${path}/withdraw-operator`, 'This user is no operator.')
    await expectOnlySaid(desk, `${path}/reset-factors`, 'This user has no second factors.')
    await expectSaidAfterwards(desk, `${path}/make-operator`, 'This user is an operator.')
    await expectSaidAfterwards(desk, `${path}/disable`, 'This user is disabled.', user.email)
    await expectOnlySaid(desk, `${path}/reset-link`, 'This user is disabled.')
  })

  test('about an app, its endpoint and its draft', async () => {
    const app = await addApp(platform, world.user)
    await expectSaidAfterwards(desk, `/desk/apps/${app.slug}/suspend`, 'This app is suspended.')
    await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'active' })
    const owner = await signedInBrowser(url, world.user)
    await uploadVersion(platform, app, '1.0.0', ['submit'])
    await expectOnlySaid(owner, `/console/${app.slug}/versions/1.0.0/delete`, 'Only a draft can be deleted.')
    await uploadVersion(platform, app, '1.1.0', ['submit', 'approve'])
    await expectOnlySaid(desk, `/desk/reviews/${app.slug}/1.1.0/reject`, 'This version is already approved.')
  })

  test('about an install', async () => {
    const id = await installApp(platform, await addApp(platform, world.user), world.user)
    const user = await signedInBrowser(url, world.user)
    await expectOnlySaid(desk, `/desk/installs/${id}/reject`, 'This install is already decided.')
    await expectSaidAfterwards(user, `/installs/${id}/end`, 'This install has ended.')
    await expectOnlySaid(desk, `/desk/installs/${id}/deactivate`, 'This install has ended.')
  })

  test('about one’s own account', async () => {
    const user = await signedInBrowser(url, await addUser(platform))
    await expectOnlySaid(user, '/account/factors/totp/remove', 'You have no authenticator app set up.')
    await expectOnlySaid(user, '/account/factors/recovery-codes', 'Recovery codes come with a second factor')
    await expectOnlySaid(user, '/account/apps/revoke-all', 'No app can act for you.')
    await expectOnlySaid(user, '/account/sessions/end-others', 'You are signed in here and nowhere else.')
    const connected = await addUser(platform)
    await grantTokens({ ...world, user: connected })
    const { clientId } = world.app.development
    const own = await signedInBrowser(url, connected)
    await expectSaidAfterwards(own, `/account/apps/${clientId}/revoke`, 'This app cannot act for you.')
  })
})

describe('what this person may not do is not asked for', () => {
  test('operators do not act on themselves', async () => {
    const own = `/desk/users/${world.operator.id}`
    await expectOnlySaid(desk, `${own}/end-access`, 'You cannot end your own access here')
    await expectOnlySaid(desk, `${own}/reset-factors`, 'You cannot reset your own second factors here')
    await expectOnlySaid(desk, `${own}/reset-link`, 'You cannot reset your own password here')
    await expectOnlySaid(desk, `${own}/withdraw-operator`, 'You cannot remove your own operator rights')
    await expectOnlySaid(desk, `${own}/disable`, 'You cannot disable yourself')
  })

  test('members read which role it takes, and that the app is suspended', async () => {
    const owner = await signedInBrowser(url, world.user)
    const developer = await addUser(platform)
    const app = await addApp(platform, world.user)
    await addMember(platform, trace, operator, { slug: app.slug, email: developer.email, role: 'developer' })
    const member = await signedInBrowser(url, developer)
    const path = `/console/${app.slug}`
    await expectOnlySaid(member, `${path}/transfer`, 'Only owners of the app can change this.')
    await expectOnlySaid(member, `${path}/delete`, 'Only owners of the app can change this.')
    await expectOnlySaid(member, `${path}/members/${developer.id}/role`, 'Only admins and owners of the app')
    await expectOnlySaid(member, `${path}/credentials/rotate?environment=production`, 'Only admins and owners')
    await expectOnlySaid(owner, `${path}/leave`, 'The publisher of an app cannot leave it.')
    await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
    await expectOnlySaid(owner, `${path}/transfer`, 'An operator has suspended this app.')
    await expectOnlySaid(owner, `${path}/credentials/rotate?environment=production`, 'An operator has suspended')
  })
})

test('a step that is not possible asks for no proof, and one that is does', async () => {
  const browser = plainBrowser(url)
  browser.cookies.set('session', (await signIn(earlier(platform, 11), trace, world.operator)).sessionToken)
  await expectOnlySaid(browser, `/desk/users/${world.operator.id}/disable`, 'You cannot disable yourself')
  const asked = await browser.get(`/desk/users/${world.user.id}/disable`)
  expect([asked.status, asked.headers.get('location')?.split('?')[0]]).toEqual([303, '/account/prove'])
})

test('a step that became impossible since its page was shown is refused, and its page has no form any more', async () => {
  const user = await addUser(platform)
  const step = `/desk/users/${user.id}/reset-link`
  const form = await desk.formOn(step, step)
  await desk.submit(`/desk/users/${user.id}/disable`, `/desk/users/${user.id}/disable`)
  const refused = await desk.post(step, form)
  expect(refused.status).toBeGreaterThanOrEqual(400)
  expect(mainOf(refused)).toContain('role="alert"')
  expect(mainOf(refused)).not.toContain('<form')
})
