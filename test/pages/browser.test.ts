import { expect } from 'bun:test'
import { expectAccessible } from './support/accessible.ts'
import { browserKinds } from './support/browser-kinds.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { settleNeighbour } from './support/neighbours.ts'
import { needs } from '../support/needs.ts'

const { afterAll, beforeAll, test } = needs('Chromium', 'openssl')

// The other tests of pages rely on these checks of the browser.

const wrap = (body: string) =>
  `<!doctype html><html lang="en"><head><title>A page</title><meta name="viewport" content="width=device-width"></head><body><main><h1>A page</h1>${body}</main></body></html>`
const bodies: Readonly<Record<string, string>> = {
  '/good': '<p>Nothing here is wrong.</p>',
  '/script': '<p id="p">No script</p><script src="/site.js"></script>',
  '/inline': '<script>1</script>',
  '/style': '<p style="color: red">Red</p>',
  '/elsewhere': '<img alt="" src="https://elsewhere.example/pixel.png">',
  '/missing-part': '<img alt="" src="/nowhere.png">',
  '/link': '<a href="https://app.example/callback?code=1">On</a>',
  '/unlabelled': '<input name="q">',
}
let server: Bun.Server<undefined>

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/site.js') {
        return new Response("document.getElementById('p').textContent = 'Script'", {
          headers: { 'content-type': 'text/javascript' },
        })
      }
      const body = bodies[pathname]
      const headers = {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'self'; img-src 'self' https:",
      }
      return body === undefined
        ? new Response(wrap('Not found'), { status: 404, headers })
        : new Response(wrap(body), { headers })
    },
  })
})
afterAll(async () => await server.stop(true))

const faultsOf = async (path: string): Promise<string> => {
  const page = await openBrowser(server.url.origin)
  await page.goto(path, { waitUntil: 'networkidle' })
  return await closeBrowsers().then(
    () => 'none',
    (error: Error) => error.message,
  )
}

test('a page without faults passes in every kind of browser, and a 404 answer is no fault of the page', async () => {
  for (const kind of browserKinds) {
    const page = await openBrowser(server.url.origin, kind)
    await page.goto('/script')
    expect(await page.textContent('#p')).toBe(kind.javaScript ? 'Script' : 'No script')
    expect(await page.evaluate<number>('innerWidth')).toBe(kind.width === 'phone' ? 360 : 1280)
    expect(await page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches')).toBe(
      kind.theme === 'dark',
    )
    expect((await page.goto('/nowhere'))?.status()).toBe(404)
  }
})

test('an inline script, an inline style, a missing file and a request to another host are each reported', async () => {
  expect(await faultsOf('/good')).toBe('none')
  expect(await faultsOf('/inline')).toContain('Content Security Policy')
  expect(await faultsOf('/style')).toContain('Content Security Policy')
  expect(await faultsOf('/missing-part')).toContain('404: ')
  expect(await faultsOf('/elsewhere')).toContain('went to https://elsewhere.example/pixel.png')
})

test('an expected fault must occur', async () => {
  const page = await openBrowser(server.url.origin, { foreseen: [/nowhere\.png/, /never/] })
  await page.goto('/missing-part', { waitUntil: 'networkidle' })
  await expect(closeBrowsers()).rejects.toThrow(/^In the browser:\n- no \/never\/ came$/)
})

test('a browser reaches a named host over HTTPS, and reads its answer', async () => {
  const page = await openBrowser(server.url.origin, { alsoReaches: ['https://app.example'] })
  await page.goto('/link')
  await page.getByRole('link', { name: 'On' }).click()
  await page.waitForURL('https://app.example/callback?code=1')
  settleNeighbour('app.example', () => new Response('Settled', { headers: { 'content-type': 'text/plain' } }))
  await page.goto('https://app.example/')
  expect(await page.textContent('body')).toBe('Settled')
})

test('an accessibility fault is reported with its rule and its element', async () => {
  const page = await openBrowser(server.url.origin)
  await page.goto('/good')
  await expectAccessible(page)
  await page.goto('/unlabelled')
  await expect(expectAccessible(page)).rejects.toThrow(/- label: [\s\S]*<input name="q">/)
})
