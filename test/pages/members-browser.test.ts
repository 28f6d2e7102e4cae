import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { inviteUser } from '../../src/operations/users/passwords.ts'
import { eventually } from '../support/crash.ts'
import { linkIn, startMailServer } from '../support/mail-server.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, createWorld, endWorld, type World } from '../support/world.ts'
import { expectAccessible } from './support/accessible.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { askedFirst, confirm } from './support/confirm.ts'
import { signInByForm } from './support/sign-in.ts'

const { afterAll, afterEach, beforeAll, test } = needs('Chromium')

const mails = await startMailServer()
let world: World
beforeAll(async () => {
  world = await createWorld({ env: { SMTP_URL: `smtp://localhost:${mails.port}`, MAIL_FROM: 'apps@example.com' } })
})
afterEach(closeBrowsers)
afterAll(async () => {
  await endWorld(world)
  await mails.down()
})

const heading = async (page: Page) => await page.getByRole('heading', { level: 1 }).innerText()
const said = async (page: Page) => await page.getByRole('main').innerText()
const press = async (page: Page, name: string) => {
  const led = page.waitForEvent('framenavigated')
  await page.getByRole('main').getByRole('button', { name }).click()
  await led
  await page.waitForLoadState()
}
const rowOf = (page: Page, email: string) => page.getByRole('listitem').filter({ hasText: email })

test('a team in the browser', async () => {
  const open = async () => await openBrowser(world.server.url)
  const [boss, admin] = [await addUser(world.platform, 'Olive Owner'), await addUser(world.platform, 'Ben Admin')]
  const { slug } = await addApp(world.platform, boss)
  const at = (path: string) => `/console/${slug}${path}`
  const guest = { email: `new-${boss.email}`, password: 'four unrelated words here' }

  const owner = await open()
  await owner.goto(at('/members'))
  await signInByForm(owner, boss)
  const invite = async (email: string, role: string) => {
    await owner.goto(at('/members'))
    await owner.getByLabel('Email address').fill(email)
    await owner.getByRole('radio', { name: role }).check()
    await press(owner, 'Create the invitation')
    expect(await said(owner)).toContain('An email with another link is also on its way')
    return new URL(await owner.getByLabel('Link').inputValue())
  }
  const toAdmin = await invite(admin.email, 'Admin')
  await expectAccessible(owner)
  await owner.goBack()
  await owner.goForward()
  expect(await said(owner)).toContain('There is no new link to show')
  await invite(guest.email, 'Developer')

  // Somebody with an account opens the link that was shown, in two tabs.
  const second = await open()
  await second.goto(toAdmin.pathname + toAdmin.search)
  await signInByForm(second, admin)
  expect(await said(second)).toContain(`Olive Owner (${boss.email}) invites you to become an admin of Newsletter`)
  const tab = await second.context().newPage()
  await tab.goto(toAdmin.pathname + toAdmin.search)
  await press(second, 'Join')
  expect(await heading(second)).toBe('Newsletter')
  await press(tab, 'Join')
  expect(await heading(tab)).toBe('This invitation does not work')
  await expectAccessible(tab)
  await second.goBack()
  expect([await heading(second), await said(second)].join()).not.toContain('Join Newsletter')

  // Somebody without an account gets one from an operator, and opens the link that was mailed.
  const account = await inviteUser(world.platform, trace, operator, { ...guest, name: 'Grace New', isOperator: false })
  const developer = await open()
  const { pathname, search } = new URL(account.link)
  await developer.goto(pathname + search)
  await developer.getByLabel('New password', { exact: true }).fill(guest.password)
  await developer.getByLabel('Repeat the new password').fill(guest.password)
  await press(developer, 'Set the password')
  const mail = await eventually(
    async () => mails.received.find(({ to, text }) => to[0] === guest.email && text.includes('/invitation?')),
    (found) => found !== undefined,
  )
  await developer.goto(`/invitation?link=${linkIn(mail ?? { text: '' })}`)
  await press(developer, 'Join')

  // What a developer sees and may do, and what not.
  const creates = async (environment: string) => {
    await developer.goto(at(`/credentials?environment=${environment}`))
    return await developer.getByRole('link', { name: `Create a ${environment} secret` }).count()
  }
  expect([await creates('development'), await creates('production')]).toEqual([1, 0])
  await developer.goto(at('/members'))
  expect(await said(developer)).toContain('Only admins and owners can invite people.')
  expect(await rowOf(developer, admin.email).getByRole('link').count()).toBe(0)
  await expectAccessible(developer)
  await developer.goto(at('/settings'))
  expect(await developer.getByRole('link', { name: 'Transfer the app' }).count()).toBe(0)
  await expectAccessible(developer)
  await developer.goto(at('/transfer'))
  expect(await said(developer)).toContain('Only owners of the app can change this.')
  await expectAccessible(developer)

  // The developer is removed while they have a form open.
  await developer.goto(at('/credentials/new'))
  await developer.getByLabel('Label').fill('Mine')
  await owner.goto(at('/members'))
  await askedFirst(owner, 'Remove Grace New')
  expect(await said(owner)).toContain('keep working until you rotate the development secret')
  await press(owner, 'Remove the member')
  expect(await owner.getByRole('status').innerText()).toContain('keep working until you rotate the development secret')
  await press(developer, 'Create the secret')
  expect(await said(developer)).toContain('you have no access to it. Nothing was changed.')
  await expectAccessible(developer)
  await developer.goBack()
  await developer.reload()
  expect(await heading(developer)).toBe('Not found')

  // An app always has an owner, who can offer it to somebody else.
  await owner.goto(at('/leave'))
  expect(await said(owner)).toContain('The publisher of an app cannot leave it. Transfer the app first.')
  expect(await owner.getByRole('button', { name: 'Leave the app' }).count()).toBe(0)
  const offer = async (email: string) => {
    await owner.goto(at('/transfer'))
    await owner.getByLabel('New publisher’s email address').fill(email)
    await press(owner, 'Create the invitation')
  }
  await offer(boss.email)
  expect(await owner.getByRole('alert').innerText()).toContain('The app belongs to this person already.')
  await expectAccessible(owner)
  await offer(admin.email)
  const toHeir = new URL(await owner.getByLabel('Link').inputValue())
  await second.goto(at('/members'))
  expect(await rowOf(second, boss.email).innerText()).toContain('Publisher')
  await second.goto(toHeir.pathname + toHeir.search)
  await press(second, 'Take over the app')
  await second.goBack()
  expect(await second.getByRole('button', { name: 'Take over the app' }).count()).toBe(0)
  await second.goto(at('/members'))
  expect(await rowOf(second, admin.email).innerText()).toContain('Publisher')
  await owner.goto(at('/members'))
  await confirm(owner, 'Leave')
  expect(await owner.getByRole('status').innerText()).toBe('You are no longer a member of that app.')
})
