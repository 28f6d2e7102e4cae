import { expect, test } from 'bun:test'
import { guideAreas } from '../../src/guides/index.ts'
import type { Json } from '../support/call.ts'
import { addApp, addUser } from '../support/world.ts'
import { plainBrowser, signedInBrowser } from './support/plain-browser.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const world = await worldOfFile()

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

test('a guide with many headings begins with links to them, and every guide but the last leads to the next one', async () => {
  const all = [...(await pages()).values()]
  for (const [at, { guide, text }] of all.entries()) {
    const contents = /<ul class="contents">(.*?)<\/ul>/s.exec(text)?.[1] ?? ''
    const headings = [...guide.text.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading.replaceAll('`', ''))
    const listed = [...contents.matchAll(/<li>(.*?)<\/li>/g)].map(([, link = '']) => plainText(link))
    expect(listed).toEqual(headings.length < 4 ? [] : headings)
    const next = all[at + 1]?.guide
    expect(/rel="next">([^<]*)/.exec(text)?.[1]).toBe(next?.title.replaceAll('&', '&amp;'))
    expect(/rel="prev">([^<]*)/.exec(text)?.[1]).toBe(all[at - 1]?.guide.title.replaceAll('&', '&amp;'))
    const beside = /<nav class="docs-list"(.*?)<\/nav>/s.exec(text)?.[1] ?? ''
    for (const { topic } of guides) expect(beside).toContain(`href="/docs/guides/${topic}"`)
    expect(beside.match(/aria-current="page"/g)).toHaveLength(1)
  }
})

test('the reference has every call and event of its document without a script, with its errors and fields, under a fragment of its own', async () => {
  for (const [path, document, tries] of [
    ['/docs/reference', '/openapi.json', '/docs/api'],
    ['/docs/reference/builder', '/openapi-builder.json', '/docs/api/builder'],
  ] as const) {
    const { status, text } = await visitor().get(path)
    expect(status).toBe(200)
    const { paths, webhooks } = JSON.parse((await visitor().get(document)).text)
    const calls: Json[] = Object.values<Json>(paths).flatMap((methods) => Object.values<Json>(methods))
    const events: Json[] = Object.values<Json>(webhooks).map(({ post }) => post)
    expect(calls.length).toBeGreaterThan(20)
    for (const { operationId, summary } of [...calls, ...events]) {
      expect(text.split(` id="${operationId}"`)).toHaveLength(2)
      expect(text).toContain(`href="#${operationId}"`)
      expect(plainText(text)).toContain(summary)
    }
    for (const called of Object.keys(paths)) expect(text).toContain(`<code>${called}</code>`)
    for (const { operationId, tags, ...call } of calls) {
      expect(text).toContain(`href="${tries}#/${encodeURIComponent(tags[0])}/${operationId}"`)
      for (const code of Object.values<string[]>(call['x-error-codes']).flat()) expect(text).toContain(code)
    }
    expect(text).toContain('[].')
    expect(text.match(/<script/g)).toHaveLength(1) // that of every page
    expect(text).not.toContain('undefined')
    expect((await visitor().get(path)).text).toBe(text)
  }
})

test('the page that sends calls is at /docs and /docs/api, and it and the list of all guides by reader link to each other', async () => {
  const reference = (await visitor().get('/docs/api')).text
  expect(reference).toContain('<a href="/docs/guides">Guides</a>')
  expect(reference).toBe((await visitor().get('/docs')).text)
  const { text } = await visitor().get('/docs/guides')
  expect(text).toContain('href="/docs/reference"')
  expect(reference).toContain('href="/docs/reference"')
  for (const { name, guides: listed } of guideAreas) {
    expect(text).toContain(`<h2>${name}</h2>`)
    for (const { topic } of listed) expect(text).toContain(`href="/docs/guides/${topic}"`)
  }
})

/** What a search finds: the link and the text of every section. */
const found = async (asked: string) => {
  const { status, text } = await visitor().get(`/docs/guides?${new URLSearchParams({ q: asked }).toString()}`)
  expect(status).toBe(200)
  const rows = text.split('<li class="row linked">').slice(1)
  return { text, rows: rows.map((row) => ({ href: /href="([^"]*)"/.exec(row)?.[1] ?? '', text: plainText(row) })) }
}

test('a search finds the sections that have all of its words, in whatever case, and leads to their headings', async () => {
  const { rows } = await found('second FACTORS')
  expect(rows[0]?.href).toBe('/docs/guides/users#second-factors')
  expect(rows[0]?.text).toStartWith('Second factorsUsers, apps and access')
  const all = await pages()
  for (const { href } of rows) {
    const [path = '', fragment = ''] = href.split('#')
    const page = all.get(path)?.text ?? ''
    expect(plainText(page).toLowerCase()).toContain('second')
    expect(fragment === '' || page.includes(` id="${fragment}"`)).toBe(true)
  }
  expect((await found('token')).rows.length).toBe(20)
})

test('a search marks its words and shows what is around them, also in code, tables and lists', async () => {
  const { text } = await found('rate_limit_sign_in 10/300')
  expect(text).toContain(
    '<mark>RATE_LIMIT_SIGN_IN</mark> – <mark>10/300</mark> – failed sign-ins, per account and address',
  )
  expect((await found(`login --url ${publicUrl()}`)).rows[0]?.text).toContain(`app-platform login --url ${publicUrl()}`)
})

test('a search without a match says so, and its words are text and not markup', async () => {
  const { rows, text } = await found('<script> (unheard-of')
  expect(rows).toEqual([])
  expect(text).toContain('No section of the guides has all of these words.')
  expect(text).not.toContain('<script>')
  expect((await found(' ')).text).toContain('<h2>Operate a server</h2>')
})

test('signed-in developers see the client ID of their first app, or of the one that they choose, in the examples', async () => {
  const { platform, server } = world
  const developer = await addUser(platform)
  const first = await addApp(platform, developer)
  const second = await addApp(platform, developer)
  const strangers = await addApp(platform, await addUser(platform))
  const browser = await signedInBrowser(server.url, developer)
  const read = async (path: string) => plainText((await browser.get(`/docs/guides/${path}`)).text)
  expect(await read('first-app')).toContain(`client_id=${first.development.clientId}`)
  expect(await read(`command-line?app=${second.slug}`)).toContain(
    `APP_PLATFORM_CLIENT_ID=${second.development.clientId}`,
  )
  expect(await read('oauth-libraries')).toContain(`CLIENT_ID, is ${first.development.clientId}`)
  expect(await read(`first-app?app=${strangers.slug}`)).not.toContain(strangers.development.clientId)
  expect(await read('sign-in')).not.toContain(first.development.clientId) // it has no examples for apps
  const other = await signedInBrowser(server.url, await addUser(platform))
  for (const reader of [visitor(), other]) {
    const seen = (await reader.get('/docs/guides/first-app')).text
    expect(plainText(seen)).toContain('apc_dev_…')
    expect(seen).not.toContain(first.development.clientId)
  }
  expect(await read(`first-app?app=${second.slug}`)).toContain(`client_id=${second.development.clientId}`)
})

test('a guide that does not exist is not found, as a page', async () => {
  const { status, text } = await visitor().get('/docs/guides/nowhere')
  expect(status).toBe(404)
  expect(text).toContain('Not found')
})
