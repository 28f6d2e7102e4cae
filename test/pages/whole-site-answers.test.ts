import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { needs } from '../support/needs.ts'
import { endWorld } from '../support/world.ts'
import { openBrowser } from './support/browser.ts'
import { loginOf } from './support/enter.ts'
import { settleNeighbour } from './support/neighbours.ts'
import { formsIn, shows } from './support/page-forms.ts'
import { pageTable } from './support/page-table.ts'
import { type PlainBrowser, plainBrowser, signedInBrowser } from './support/plain-browser.ts'
import { signInByForm } from './support/sign-in.ts'
import { refusals, siteMap, type Who } from './support/site-map.ts'
import { createStockedWorld, type StockedWorld } from './support/stocked-world.ts'

// What every page has in common: who may see it, and its security headers.

const publicUrl = 'https://platform.example'
let world: StockedWorld
let url: string
const browsers = new Map<Who, PlainBrowser>()
beforeAll(async () => {
  world = await createStockedWorld({ PUBLIC_URL: publicUrl })
  url = world.server.url
  browsers.set('visitor', plainBrowser(url))
  for (const who of ['user', 'operator'] as const) browsers.set(who, await signedInBrowser(url, loginOf(world, who)))
}, 180_000)
afterAll(async () => await endWorld(world))

const browserOf = (who: Who): PlainBrowser => browsers.get(who) ?? plainBrowser(url)

/** Every page as a person who may see it, and the refusals. */
const answers = async () => {
  const faces = [
    ...siteMap
      .filter(({ leadsOn, isDownload }) => leadsOn !== true && isDownload !== true)
      .flatMap(({ who, paths, framed = null }) => paths(world).map((path) => ({ who, path, framed, expected: 200 }))),
    ...refusals.map(({ who, path, status }) => ({ who, path: path(world), framed: null, expected: status })),
  ]
  return await Promise.all(
    faces.map(async ({ who, path, framed, expected }) => {
      const { status, headers, text } = await browserOf(who).get(path)
      return { path, framed, expected, status, headers, text }
    }),
  )
}

const promised: Readonly<Record<string, string>> = {
  'cross-origin-opener-policy': 'same-origin',
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** The page without the origin of its frame. */
const withoutFrame = (text: string, framed: string | null): string =>
  framed === null ? text : text.replace(`<iframe class="app" title="The app" src="${framed}/`, '<iframe src="/')

/** A page without the ID of its request and the tickets of its forms. */
const nameless = (text: string) =>
  text.replaceAll(/req_[0-9a-f]{32}/g, 'req_').replaceAll(/name="ticket" value="[^"]*"/g, '')

/** A page that says what is no longer possible, instead of that it does not exist. */
const isOfRevoked = (pattern: string): boolean => pattern.startsWith('/account/apps/:clientId/')
const noClient = `apc_dev_${'0'.repeat(22)}`

/** Parameters that are no filters: where a list goes on, what was done, where a page leads back to, and a file in an archive. */
const isNoFilter = /^(?:cursor|done|from|return_to|seen|path)$/
/** The pages of an app keep the environment in their links. */
const isKept = (text: string, name: string, value: string): boolean =>
  name === 'environment' && text.includes(`?environment=${value}"`)

describe('every page', () => {
  test('links to lists only with filters that those lists have, and there they are set', async () => {
    const links = new Map<string, { who: Who; href: string; asked: URLSearchParams }>()
    for (const { who, paths, leadsOn, isDownload } of siteMap) {
      if (leadsOn === true || isDownload === true) continue
      for (const path of paths(world)) {
        const { text } = await browserOf(who).get(path)
        for (const [, quoted = ''] of text.matchAll(/<a [^>]*href="(\/[^"]*\?[^"]*)"/g)) {
          const href = quoted.replaceAll('&amp;', '&')
          const { pathname, searchParams } = new URL(href, url)
          if (!/^\/(?:console|desk|account|installs)/.test(pathname)) continue
          const names = [...searchParams.keys()].filter((name) => !isNoFilter.test(name)).toSorted()
          const kind = `${who} ${pathname.replaceAll(/[a-z]+_[0-9a-f]{32}/g, ':id')} ${names.join(' ')}`
          if (names.length > 0 && !links.has(kind)) links.set(kind, { who, href, asked: searchParams })
        }
      }
    }
    expect(links.size).toBeGreaterThan(5)
    const ignored: string[] = []
    for (const { who, href, asked } of links.values()) {
      const { status, text } = await browserOf(who).get(href)
      if (status !== 200) ignored.push(`${href}: ${status}`)
      for (const [name, value] of asked) {
        if (isNoFilter.test(name) || shows(text, name, value) || isKept(text, name, value)) continue
        ignored.push(`${href}: ${name}`)
      }
    }
    expect(ignored).toEqual([])
  })

  test('forbids caches, frames, type sniffing and plain HTTP', async () => {
    for (const { path, expected, status, headers } of await answers()) {
      const seen = Object.fromEntries(Object.keys(promised).map((name) => [name, headers.get(name)]))
      // The address of an invitation has its secret.
      const referrer = path.startsWith('/invitation') ? { 'referrer-policy': 'strict-origin' } : {}
      expect({ path, status, ...seen }).toEqual({ path, status: expected, ...promised, ...referrer })
    }
  })

  test('loads files of this server only, and its forms lead only to this server', async () => {
    for (const { path, framed, headers, text } of await answers()) {
      const policy = new Map(
        (headers.get('content-security-policy') ?? '')
          .split('; ')
          .map((directive) => [directive.split(' ', 1)[0], directive]),
      )
      const formAction = policy.get('form-action')
      policy.delete('form-action')
      expect({ path, ...Object.fromEntries(policy) }).toEqual({
        path,
        'default-src': "default-src 'none'",
        'script-src': "script-src 'self'",
        'style-src': "style-src 'self'",
        'img-src': "img-src 'self' data:",
        'base-uri': "base-uri 'none'",
        'frame-ancestors': "frame-ancestors 'none'",
        ...(framed === null ? {} : { 'frame-src': `frame-src ${framed}` }),
        ...(framed === null && !text.includes('data-progress') ? {} : { 'connect-src': "connect-src 'self'" }),
      })
      expect({ path, formAction }).toEqual({ path, formAction: "form-action 'self'" })
    }
  })

  test('has no inline script, style or event handler, and loads nothing from other hosts', async () => {
    const inline =
      /<script(?![^>]*\ssrc=)|<style|\sstyle=|<[a-z][^>]*\son[a-z]+=|(?:src|href)="(?:https?:)?\/\/[^"]*"[^>]*>(?<!<a [^>]*>)/i
    for (const { path, framed, text } of await answers())
      expect({ path, found: inline.exec(withoutFrame(text, framed))?.[0] ?? null }).toEqual({ path, found: null })
  })

  test('that requires a session leads to the sign-in page and back, without a session and with an invalid one', async () => {
    const strange = plainBrowser(url)
    strange.cookies.set('__Host-session', `apus_${'0'.repeat(71)}`)
    for (const { who, paths } of siteMap.filter((site) => site.who !== 'visitor')) {
      for (const path of paths(world)) {
        for (const browser of [plainBrowser(url), strange]) {
          const { status, headers } = await browser.get(path)
          const returnTo = new URL(headers.get('location') ?? '/', publicUrl).searchParams.get('return_to')
          expect({ path, who, status, returnTo }).toEqual({ path, who, status: 303, returnTo: path })
          expect(headers.get('cache-control')).toBe('no-store')
        }
      }
    }
  })

  test("of somebody else's app or account, or of the desk, does not exist", async () => {
    const stranger = await signedInBrowser(url, world.stranger)
    for (const { pattern, paths, isForEverybody } of siteMap) {
      if (isForEverybody === true) continue
      if (!pattern.includes(':') && !pattern.startsWith('/desk')) continue
      for (const path of paths(world)) {
        const { status, text } = await stranger.get(path)
        // Whoever has revoked an app is told so: with the same words as for one that never was.
        expect({ path, status }).toEqual({ path, status: isOfRevoked(pattern) ? 200 : 404 })
        const elsewhere = await stranger.get(
          path.replace(world.app.slug, 'there-is-no-such-app').replace(world.app.development.clientId, noClient),
        )
        expect({ path, text: nameless(text) }).toEqual({ path, text: nameless(elsewhere.text) })
      }
    }
  })

  test('refuses a method that it does not have', async () => {
    for (const pattern of new Set(pageTable(world.platform).map(({ pattern }) => pattern))) {
      const { status } = await fetch(url + pattern.replaceAll(':', ''), { method: 'DELETE', redirect: 'manual' })
      expect({ pattern, status }).toEqual({ pattern, status: 405 })
    }
  })
})

test('cookies have all protective attributes, and last as long as their session', async () => {
  const browser = plainBrowser(url)
  const form = formsIn((await browser.get('/sign-in')).text)[0]
  const { email, password } = world.user
  const first = await fetch(`${url}/sign-in`)
  const { headers } = await browser.post('/sign-in', { ...form?.fields, email, password })
  const rules = 'Path=/; Max-Age=SECONDS; HttpOnly; SameSite=Lax; Secure'
  for (const [name, cookie] of [
    ['__Host-visit', first.headers.get('set-cookie')],
    ['__Host-session', headers.getSetCookie()[0]],
    ['__Host-device', headers.getSetCookie()[1]],
  ] as const) {
    expect(cookie?.replace(/=[\w.-]+/, '=VALUE').replace(/Max-Age=\d+/, 'Max-Age=SECONDS')).toBe(
      `${name}=VALUE; ${rules}`,
    )
  }
})

needs('Chromium', 'openssl').test(
  'over HTTPS, scripts cannot read the cookies, other sites cannot send them and other hosts cannot set them',
  async () => {
    settleNeighbour('platform.example', async (request) => {
      const { pathname, search } = new URL(request.url)
      return await fetch(url + pathname + search, {
        method: request.method,
        headers: request.headers,
        body: request.method === 'POST' ? await request.arrayBuffer() : null,
        redirect: 'manual',
        decompress: false,
      })
    })
    const page = await openBrowser(publicUrl)
    await page.goto('/account')
    await signInByForm(page, world.user)
    expect(new URL(page.url()).pathname).toBe('/account')
    const cookies = await page.context().cookies()
    expect(cookies.map(({ name }) => name).toSorted()).toEqual(['__Host-device', '__Host-session', '__Host-visit'])
    for (const cookie of cookies) {
      expect(cookie).toMatchObject({
        httpOnly: true,
        secure: true,
        sameSite: 'Lax',
        path: '/',
        domain: 'platform.example',
      })
    }
    expect(await page.evaluate<string>('document.cookie')).toBe('')
  },
)
