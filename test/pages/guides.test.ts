import { afterAll, beforeAll, expect, test } from 'bun:test'
import { guideAreas } from '../../src/guides/index.ts'
import { createWorld, endWorld, type World } from '../support/world.ts'
import { plainBrowser } from './support/plain-browser.ts'

let world: World
beforeAll(async () => void (world = await createWorld()))
afterAll(async () => await endWorld(world))

const guides = guideAreas.flatMap((area) => area.guides)
const visitor = () => plainBrowser(world.server.url)
const publicUrl = () => world.server.url.replace('127.0.0.1', 'localhost')
const plainText = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

/** Every guide as its page. */
const pages = async () =>
  new Map(
    await Promise.all(
      guides.map(async (guide) => {
        const path = `/docs/guides/${guide.topic}`
        return [path, { guide, ...(await visitor().get(path)) }] as const
      }),
    ),
  )

test('anybody can read every guide: its title, headings and code are on its page', async () => {
  for (const { guide, status, text } of (await pages()).values()) {
    expect(status).toBe(200)
    const shown = plainText(text)
      .replaceAll(publicUrl(), 'https://apps.example.com')
      .replaceAll(encodeURIComponent(publicUrl()), encodeURIComponent('https://apps.example.com'))
    expect(text).toContain(`<h1><bdi>${guide.title.replaceAll('&', '&amp;')}</bdi></h1>`)
    for (const [, code = ''] of guide.text.matchAll(/^```[a-z]+\n([\s\S]*?)\n```/gm)) {
      expect(shown).toContain(code)
    }
    for (const [, heading = ''] of guide.text.matchAll(/^##+ (.+)$/gm)) {
      expect(shown).toContain(heading.replaceAll(/`/g, ''))
    }
    expect(text).not.toContain('&lt;!--')
  }
})

test('the guides for app developers and builders show the address of this server, those for operators an example', async () => {
  const { text } = await visitor().get('/docs/guides/first-app')
  expect(plainText(text)).toContain(`app-platform login --url ${publicUrl()}`)
  expect(text).not.toContain('https://apps.example.com')
  const frames = plainText((await visitor().get('/docs/guides/frames')).text)
  expect(frames).toContain(`builder=${encodeURIComponent(publicUrl())}`)
  expect(frames).toContain(`const builder = '${publicUrl()}'`)
  expect((await visitor().get('/docs/guides/installation')).text).toContain('PUBLIC_URL=https://apps.example.com')
})

test('every link of a guide leads to a guide and a heading that exist', async () => {
  const all = await pages()
  const linked = [...all].flatMap(([path, { text }]) =>
    [...text.matchAll(/href="((?:\/docs\/guides\/|#)[^"]*)"/g)].map(([, href = '']) => {
      const [file = '', fragment = ''] = href.split('#')
      return { path, href, target: all.get(file === '' ? path : file), fragment }
    }),
  )
  const broken = linked.filter(
    ({ href, target, fragment }) =>
      href !== '#main' && (target === undefined || (fragment !== '' && !target.text.includes(` id="${fragment}"`))),
  )
  expect(broken.map(({ path, href }) => `${path}: ${href}`)).toEqual([])
  expect(linked.length).toBeGreaterThan(50)
})

test('the API reference links to the list of guides, which has all of them by reader', async () => {
  expect((await visitor().get('/docs')).text).toContain('<a href="/docs/guides">Guides</a>')
  const { text } = await visitor().get('/docs/guides')
  for (const { name, guides: listed } of guideAreas) {
    expect(text).toContain(`<h2>${name}</h2>`)
    for (const { topic } of listed) expect(text).toContain(`href="/docs/guides/${topic}"`)
  }
})

test('a guide that does not exist is not found, as a page', async () => {
  const { status, text } = await visitor().get('/docs/guides/nowhere')
  expect(status).toBe(404)
  expect(text).toContain('Not found')
})
