import { afterAll, expect, test } from 'bun:test'
import { eventually } from '../support/crash.ts'
import { linkIn, startMailServer } from '../support/mail-server.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { hiddenFields, plainBrowser, signedInBrowser } from './support/plain-browser.ts'

const mails = await startMailServer()
afterAll(async () => await mails.down())
const world = await worldOfFile({
  env: { SMTP_URL: `smtp://localhost:${mails.port}`, MAIL_FROM: 'apps@example.com' },
})
const { url } = world.server

test('a person changes their address with a link that is mailed to the new one', async () => {
  const browser = await signedInBrowser(url, world.user)
  const email = `new-${world.user.email}`
  const asked = await browser.submit('/account/email', '/account/email', { email })
  expect(asked.headers.get('location')).toBe('/account/email?done=asked')
  expect((await browser.follow(asked)).text).toContain('We have sent a link to the new address')
  const mail = await eventually(
    async () => mails.received.find(({ to }) => to[0] === email),
    (found) => found !== undefined,
  )
  const anybody = plainBrowser(url)
  const page = (await anybody.get(`/confirm-email?link=${linkIn(mail ?? { text: '' })}`)).text
  expect(page).toContain(email)
  expect((await world.platform.database.queries.users.byId(world.user.id))?.email).toBe(world.user.email)
  const confirm = async () => await anybody.post('/confirm-email', hiddenFields(page, '/confirm-email'))
  expect((await confirm()).headers.get('location')).toBe('/confirm-email?done=set')
  expect((await confirm()).status).toBe(410)
  expect((await world.platform.database.queries.users.byId(world.user.id))?.email).toBe(email)
  expect((await browser.get('/account')).text).toContain(email)
})

test('without a mail server there is no form, and a form that is sent changes nothing', async () => {
  const plain = await worldOfFile()
  const browser = await signedInBrowser(plain.server.url, plain.user)
  const { text } = await browser.get('/account/email')
  expect(text).toContain('Only the operator of this server can change it.')
  expect(text).not.toContain('name="email"')
})
