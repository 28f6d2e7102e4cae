import { describe, expect, test } from 'bun:test'
import { call } from '../support/call.ts'
import { needs } from '../support/needs.ts'
import { startServer } from '../support/running-server.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { expectAccessible } from './support/accessible.ts'
import { openBrowser } from './support/browser.ts'
import { browserKinds } from './support/browser-kinds.ts'
import { hiddenFields, plainBrowser, signedInBrowser } from './support/plain-browser.ts'
import { screenshot } from './support/screenshot.ts'
import { signInByForm } from './support/sign-in.ts'

const world = await worldOfFile({ env: { RATE_LIMIT: 'on', RATE_LIMIT_SIGN_IN: '3/300' } })
const { url } = world.server

const unknownEmail = 'nobody@example.com'

describe('in a browser', () => {
  const { test } = needs('Chromium', 'openssl')
  test.each(browserKinds)('a person signs in, is led where they wanted, and out: $kind', async (kind) => {
    const page = await openBrowser(url, kind)
    await page.goto('/')
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await screenshot(page, `sign-in ${kind.kind}`)
    await signInByForm(page, world.user)
    expect(new URL(page.url()).pathname).toBe('/')
    await screenshot(page, `start ${kind.kind}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/sign-in')
    await page.goto('/')
    expect(new URL(page.url()).pathname).toBe('/sign-in')
  })

  test('a wrong password shows an error, and the email address stays in its field', async () => {
    const page = await openBrowser(url)
    await page.goto('/sign-in')
    await page.getByLabel('Email').fill(unknownEmail)
    await page.getByLabel('Password').fill('wrong password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('The email address or the password is wrong.')
    expect(await page.getByLabel('Email').inputValue()).toBe(unknownEmail)
    expect(await page.getByLabel('Password').inputValue()).toBe('')
    await expectAccessible(page)
  })
})

/** A browser with the sign-in form, and the fields that it would send. */
const form = async () => {
  const browser = plainBrowser(url)
  const hidden = hiddenFields((await browser.get('/sign-in?return_to=/account')).text, '/sign-in')
  const { email, password } = world.user
  return { browser, fields: { ...hidden, ticket: hidden['ticket'] ?? '', email, password } }
}

describe('the form', () => {
  test('creates a new session each time, and ends the previous one', async () => {
    const browser = await signedInBrowser(url, world.user)
    const first = browser.cookies.get('session') ?? ''
    const elsewhere = plainBrowser(url)
    const hidden = hiddenFields((await elsewhere.get('/sign-in')).text, '/sign-in')
    elsewhere.cookies.set('session', first)
    const { email, password } = world.user
    const { status } = await elsewhere.post('/sign-in', { ...hidden, email, password })
    expect(status).toBe(303)
    expect(elsewhere.cookies.get('session')).not.toBe(first)
    expect((await call(url, 'GET', '~/api/session', { token: first })).status).toBe(401)
  })

  test('leads to the requested page, and never to another host', async () => {
    const { browser, fields } = await form()
    const { headers } = await browser.post('/sign-in', fields)
    expect(headers.get('location')).toBe('/account')
    for (const return_to of ['//evil.example', 'https://evil.example/', '/\\evil.example']) {
      const again = await form()
      expect((await again.browser.post('/sign-in', { ...again.fields, return_to })).headers.get('location')).toBe('/')
    }
  })

  test('with a field missing or sent twice is an error page with a request ID', async () => {
    const { browser, fields } = await form()
    const { password: _, ...incomplete } = fields
    for (const broken of [incomplete, { ...fields, email: ['a@example.com', 'b@example.com'] }]) {
      const answer = await browser.post('/sign-in', broken)
      expect(answer.status).toBe(400)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(answer.text).toContain(answer.headers.get('x-request-id') ?? 'none')
      expect(answer.text).not.toContain(world.user.password)
    }
  })
})

test('a browser that is already signed in skips the form', async () => {
  const browser = await signedInBrowser(url, world.user)
  const { status, headers } = await browser.get('/sign-in?return_to=/console')
  expect([status, headers.get('location')]).toEqual([303, '/console'])
})

test('the cookie of an ended session is deleted, and refused only once', async () => {
  const browser = await signedInBrowser(url, world.user)
  await call(url, 'DELETE', '~/api/session', { token: browser.cookies.get('session') ?? '' })
  expect((await browser.get('/')).headers.get('location')).toBe('/sign-in?return_to=%2F')
  expect((await browser.get('/sign-in')).status).toBe(200)
  expect(browser.cookies.has('session')).toBe(false)
})

test('signing out ends the session from any page of ours, also one from before the sign-in, and from no other site', async () => {
  const browser = await signedInBrowser(url, world.user)
  const token = browser.cookies.get('session') ?? ''
  for (const site of ['cross-site', 'same-site', 'none']) {
    const headers = { 'sec-fetch-site': site, origin: 'https://evil.example' }
    expect((await browser.post('/sign-out', await browser.formOn('/', '/sign-out'), headers)).status).toBe(403)
  }
  expect((await browser.get('/')).status).toBe(200)
  const older = await (await signedInBrowser(url, world.user)).formOn('/', '/sign-out')
  expect((await browser.post('/sign-out', older)).headers.get('location')).toBe('/sign-in')
  expect(browser.cookies.has('session')).toBe(false)
  expect((await call(url, 'GET', '~/api/session', { token })).status).toBe(401)
})

test('an unknown address answers browsers with a page and programs with the JSON envelope', async () => {
  const seen = await plainBrowser(url).get('/nowhere')
  expect([seen.status, seen.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  const answer = await call(url, 'GET', '~/nowhere')
  expect([answer.status, answer.body.error.code]).toEqual([404, 'route_not_found'])
  const api = await call(url, 'GET', '~/api/nowhere', { headers: { accept: 'text/html' } })
  expect(api.body.error.code).toBe('route_not_found')
})

const told = async (returnTo: string) =>
  (await (await fetch(`${world.server.url}/sign-in?${new URLSearchParams({ return_to: returnTo })}`)).text()).includes(
    'An app asks for access to your account.',
  )

test('the sign-in page mentions an app only when an app sent the person', async () => {
  expect(await told('/oauth/authorize?client_id=x')).toBe(true)
  expect([await told('/account'), await told('https://evil.example/oauth/authorize?x')]).toEqual([false, false])
})

test('the sign-in page of a server without accounts shows the command that makes one, and no file of the machine', async () => {
  const fresh = await startServer()
  const { text } = await plainBrowser(fresh.url).get('/sign-in')
  expect(text).toContain('app-platform user invite --operator')
  expect(text).not.toContain(fresh.database)
  expect((await plainBrowser(url).get('/sign-in')).text).not.toContain('user invite')
  await fresh.stop()
})
