import { afterAll, expect, test } from 'bun:test'
import { linkIn, startMailServer } from '../support/mail-server.ts'
import { eventually } from '../support/crash.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addUser } from '../support/world.ts'
import { hiddenFields, plainBrowser } from './support/plain-browser.ts'

const mails = await startMailServer()
afterAll(async () => await mails.down())
const world = await worldOfFile({
  env: {
    SMTP_URL: `smtp://localhost:${mails.port}`,
    MAIL_FROM: 'apps@example.com',
    RATE_LIMIT: 'on',
    RATE_LIMIT_SIGN_IN: '3/300',
  },
})
const { url } = world.server
const page = '/forgot-password'

const ask = async (email: string, browser = plainBrowser(url)) => {
  const hidden = hiddenFields((await browser.get(page)).text, page)
  return await browser.post(page, { ...hidden, email })
}

test('somebody who has forgotten their password sets a new one with a link from a mail', async () => {
  const browser = plainBrowser(url)
  expect((await browser.get('/sign-in')).text).toContain(`href="${page}"`)
  const answer = await ask(world.user.email, browser)
  expect(answer.headers.get('location')).toBe(`${page}?done=asked`)
  expect((await browser.follow(answer)).text).toContain('an email with a link is on its way')
  const [mail] = await eventually(
    async () => mails.received,
    ({ length }) => length > 0,
  )
  expect(mail?.to).toEqual([world.user.email])
  const link = linkIn(mail ?? { text: '' })
  const at = `/set-password?link=${link}`
  const password = 'four unrelated words here'
  const hidden = hiddenFields((await browser.get(at)).text, '/set-password')
  const set = async () => await browser.post('/set-password', { ...hidden, password, repeated: password })
  const done = await set()
  expect(done.headers.get('location')).toBe('/')
  expect((await browser.follow(done)).text).toContain('Sign out') // the person is signed in
  const again = await set()
  expect(again.status).toBe(410)
  expect(again.text).toContain(`href="${page}"`)
  const other = plainBrowser(world.server.url)
  const signIn = hiddenFields((await other.get('/sign-in')).text, '/sign-in')
  expect((await other.post('/sign-in', { ...signIn, email: world.user.email, password })).status).toBe(303)
})

test('the answer is the same for every address', async () => {
  const user = await addUser(world.platform)
  const masked = async (email: string) => {
    const { status, headers, text } = await ask(email)
    const said = [...headers].filter(([name]) => !/^(date|x-request-id|server-timing|set-cookie)$/.test(name))
    return { status, said, text }
  }
  expect(await masked('nobody@example.com')).toEqual(await masked(user.email))
  expect((await ask('not an address')).status).toBe(400)
})

test('asking is limited for an address at a network, and needs the form', async () => {
  const { email } = await addUser(world.platform)
  for (let tries = 0; tries < 3; tries += 1) expect((await ask(email)).status).toBe(303)
  const refused = await ask(email.toUpperCase())
  expect(refused.status).toBe(429)
  expect(refused.text).toContain('Try again in')
  expect((await ask((await addUser(world.platform)).email)).status).toBe(303)
  expect((await plainBrowser(url).post(page, { email, ticket: 'x' })).status).toBe(403)
})

test('without a mail server, the page sends people to the operator, and the sign-in page does not lead to it', async () => {
  const plain = await worldOfFile()
  const browser = plainBrowser(plain.server.url)
  expect((await browser.get('/sign-in')).text).not.toContain(page)
  expect((await browser.get(page)).text).toContain('This server does not send email')
  const answer = await browser.post(page, { email: plain.user.email, ticket: 'x' })
  expect(answer.text).toContain('This server does not send email')
})
