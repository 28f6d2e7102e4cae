import { expect, test } from 'bun:test'
import { signIn } from '../support/world.ts'
import { plainBrowser, signedInBrowser } from './support/plain-browser.ts'
import { sessionCookieOf } from '../support/cookie.ts'
import { worldOfFile } from '../support/world-of-file.ts'

// Pages are compressed, unless the length could tell another site what is in them.

const world = await worldOfFile()
const cookie = sessionCookieOf(world.server.url, await signIn(world.server.url, world.user))

/** The coding of an answer. */
const codingOf = async (path: string, headers: Readonly<Record<string, string>>): Promise<string | null> => {
  const response = await fetch(world.server.url + path, { headers: { cookie, ...headers }, redirect: 'manual' })
  await response.arrayBuffer()
  expect(response.headers.get('vary')).toContain('accept-encoding')
  return response.headers.get('content-encoding')
}

test('a page is compressed for a reader who follows a link on this site or types its address', async () => {
  for (const site of ['same-origin', 'none']) {
    expect(await codingOf('/console?q=x', { 'accept-encoding': 'gzip', 'sec-fetch-site': site })).toBe('gzip')
  }
})

test('a page that another site asks for, or a browser that does not say who asks, is not compressed', async () => {
  for (const site of ['cross-site', 'same-site', '']) {
    expect(await codingOf('/console?q=x', { 'accept-encoding': 'gzip', 'sec-fetch-site': site })).toBeNull()
  }
  expect(await codingOf('/console?q=x', { 'accept-encoding': 'gzip' })).toBeNull()
  expect(await codingOf('/console?q=x', { 'accept-encoding': 'gzip;q=0', 'sec-fetch-site': 'none' })).toBeNull()
})

test('the page that shows a secret is not compressed', async () => {
  const { app } = world
  const owner = await signedInBrowser(world.server.url, world.user)
  const path = `/console/${app.slug}/credentials`
  const created = await owner.submit(`${path}/new`, path, { environment: 'production', label: 'New' })
  const shown = { 'accept-encoding': 'gzip', 'sec-fetch-site': 'same-origin' }
  const first = await owner.get(created.headers.get('location') ?? '', shown)
  expect([first.text.includes('aps_live_'), first.headers.get('content-encoding')]).toEqual([true, null])
  const second = await owner.get(created.headers.get('location') ?? '', shown)
  expect([second.text.includes('aps_live_'), second.headers.get('content-encoding')]).toEqual([false, 'gzip'])
})

test('two answers of one page have different tickets, so that their lengths tell nothing about a ticket', async () => {
  const browser = plainBrowser(world.server.url)
  const tickets = [await browser.formOn('/sign-in', '/sign-in'), await browser.formOn('/sign-in', '/sign-in')]
  expect(new Set(tickets.map(({ ticket }) => ticket)).size).toBe(2)
})
