import { expect } from 'bun:test'
import { needs } from '../support/needs.ts'
import { createWorld, endWorld, signIn, type World } from '../support/world.ts'
import { openBrowser } from './support/browser.ts'
import { signInByForm } from './support/sign-in.ts'
import { cookieNamed } from '../support/cookie.ts'

const { afterAll, beforeAll, test } = needs('Chromium')

// The script keeps what the server cannot keep in a cookie: long forms, and forms with a file.

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(async () => await endWorld(world))

test('the upload form that was sent after the session had ended is filled in again after the sign-in, once', async () => {
  const path = `/console/${world.app.slug}/versions/new`
  const page = await openBrowser(world.server.url)
  await page.context().addCookies([
    {
      name: cookieNamed(world.server.url, 'session'),
      value: await signIn(world.server.url, world.user),
      url: world.server.url,
    },
  ])
  await page.goto(path)
  const notes = Array.from({ length: 900 }, (_, at) => `note-${at * 7919}`)
    .join(' ')
    .slice(0, 9_000)
  await page.getByLabel('Version').fill('4.5.6')
  await page.getByLabel('Notes').fill(notes)
  await page.context().clearCookies({ name: /-session$/ })
  await page.getByRole('button', { name: 'Upload' }).click()
  await page.waitForURL('**/sign-in?*form=lost')
  expect(await page.getByRole('status').textContent()).toContain('Sign in to see your form again')
  await signInByForm(page, world.user)
  expect(new URL(page.url()).pathname).toBe(path)
  expect(await page.getByRole('status').textContent()).toContain('It has not been sent.')
  expect([await page.getByLabel('Version').inputValue(), await page.getByLabel('Notes').inputValue()]).toEqual([
    '4.5.6',
    notes,
  ])
  await page.reload()
  expect(await page.getByLabel('Notes').inputValue()).toBe('')
})
