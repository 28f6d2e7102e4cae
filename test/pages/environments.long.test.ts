import { expect, test } from 'bun:test'
import { type Environment, environments } from '../../src/domain/app.ts'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { uploadVersion } from '../operations/support/owner.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { addApp, addUser, endWorld, installApp } from '../support/world.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { loginOf } from './support/enter.ts'
import { signedInBrowser } from './support/plain-browser.ts'
import { siteMap } from './support/site-map.ts'
import { createStockedWorld } from './support/stocked-world.ts'

// The pages of an app show one of its environments at a time. The address says which one, every way from page to page keeps it, and
// nothing else remembers it.

const world = await operatorWorldOfFile()
const owner = await signedInBrowser(world.server.url, world.user)
const desk = await signedInBrowser(world.server.url, world.operator)

/** An app with a secret, a redirect URI and an install in each environment; of a live one users get a version. */
const scene = async (isLive: boolean) => {
  const app = await addApp(world.platform, world.user)
  const { slug } = app
  if (isLive) await uploadVersion(world.platform, app, '1.0.0', ['submit', 'approve', 'activate'])
  for (const environment of environments) {
    const secret = { slug, environment, label: `of ${environment}` }
    await createCredential(world.platform, trace, commandLine, secret)
  }
  return app
}

const other = { development: 'production', production: 'development' } as const satisfies Record<
  Environment,
  Environment
>

/** The environment whose link in the switch is the current one. */
const shownIn = (text: string): string | undefined =>
  /aria-label="Environment" class="tabs switch">.*?\?environment=(\w+)" aria-current="page"/s.exec(text)?.[1]
/** The links of the page to other pages of the app, by what they say of the environment. */
const linksIn = (text: string, path: string): readonly string[] =>
  [...text.matchAll(/<a href="([^"]+)"/g)].flatMap(([, href = '']) => (href.startsWith(path) ? [href] : []))

const rows = ({ text }: { readonly text: string }): number => text.match(/ins_[0-9a-f]+/g)?.length ?? 0

const switching = ['', '/first-call', '/credentials', '/redirect-uris', '/installs', '/webhooks'].concat(
  '/credentials/ended',
  '/rollbacks',
  '/rollbacks/new',
)

test('an app is shown in development until a version is live, and then in production', async () => {
  for (const isLive of [false, true]) {
    const { slug } = await scene(isLive)
    for (const part of switching) {
      const usual = isLive ? 'production' : 'development'
      const path = `/console/${slug}${part}`
      expect([path, shownIn((await owner.get(path)).text)]).toEqual([path, usual])
      expect([path, shownIn((await owner.get(`${path}?environment=${other[usual]}`)).text)]).toEqual([
        path,
        other[usual],
      ])
    }
  }
})

test('a page shows nothing of the other environment, and leads to itself in it', async () => {
  const app = await scene(true)
  for (const [browser, root] of [
    [owner, `/console/${app.slug}`],
    [desk, `/desk/apps/${app.slug}`],
  ] as const) {
    for (const environment of environments) {
      const credentials = await browser.get(`${root}/credentials?environment=${environment}`)
      expect(credentials.text).toContain(`of ${environment}`)
      expect(credentials.text).toContain(app[environment].clientId)
      expect(credentials.text).not.toContain(`of ${other[environment]}`)
      expect(credentials.text).not.toContain(app[other[environment]].clientId)
      expect(credentials.text).toContain(`href="${root}/credentials?environment=${other[environment]}"`)
    }
  }
  const uris = { development: app.redirectUri, production: app.liveRedirectUri }
  for (const environment of environments) {
    const { text } = await owner.get(`/console/${app.slug}/redirect-uris?environment=${environment}`)
    expect([text.includes(uris[environment]), text.includes(uris[other[environment]])]).toEqual([true, false])
  }
})

test('the links from page to page keep the environment of the address, and add none to an address without it', async () => {
  const { slug } = await scene(true)
  const path = `/console/${slug}`
  for (const part of [...switching, '/versions', '/members', '/settings', '/credentials/ended']) {
    const { text } = await owner.get(`${path}${part}?environment=development`)
    const pages = linksIn(/<nav aria-label="App" class="area">.*?<\/nav>/s.exec(text)?.[0] ?? '', path)
    expect(pages.length).toBeGreaterThan(8)
    expect(pages.filter((href) => !href.endsWith('?environment=development'))).toEqual([])
    const plain = await owner.get(path + part)
    expect(plain.text).toContain(`<a href="${path}/members"`)
  }
})

test('a form leads back to the environment that it is about, also from a refused one and a question', async () => {
  const { slug } = await scene(true)
  const path = `/console/${slug}/redirect-uris`
  const inDevelopment = `${path}?environment=development`
  const uri = `https://${slug}.example/more`
  const refused = await owner.submit(inDevelopment, path, { uri: 'http://no.example/' })
  expect([refused.status, shownIn(refused.text)]).toEqual([400, 'development'])
  const added = await owner.submit(inDevelopment, path, { uri })
  expect(added.headers.get('location')).toBe(`${inDevelopment}&done=uri-added`)
  const { text } = await owner.get(inDevelopment)
  const question =
    new RegExp(`href="([^"]*)" aria-label="Remove ${uri}"`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect((await owner.get(question)).text).toContain(`href="${inDevelopment}"`)
  const removed = await owner.submit(question, `${path}/remove`)
  expect(removed.headers.get('location')).toBe(`${inDevelopment}&done=uri-removed`)
  const secrets = `/console/${slug}/credentials`
  const revocation = /href="([^"]*\/revoke\?[^"]*)"/.exec(
    (await owner.get(`${secrets}?environment=development`)).text,
  )?.[1]
  const asked = await owner.get(revocation?.replaceAll('&amp;', '&') ?? '')
  expect(linksIn(asked.text, secrets)).toEqual(Array.from({ length: 2 }, () => `${secrets}?environment=development`))
})

test('the switch of a refused rollback leads to its form in the other environment, not to the list', async () => {
  const app = await scene(true)
  await uploadVersion(world.platform, app, '1.1.0', ['submit', 'approve', 'activate'])
  const path = `/console/${app.slug}/rollbacks`
  const refused = await owner.submit(`${path}/new`, path, { reason: 'x'.repeat(5_000) })
  expect([refused.status, shownIn(refused.text)]).toEqual([400, 'production'])
  expect(refused.text).toContain(`href="${path}/new?environment=development"`)
})

test('what belongs to one environment is shown in it, whatever the address says', async () => {
  const { slug } = await scene(true)
  const path = `/console/${slug}/webhooks`
  const fields = { url: 'https://93.184.215.14/hooks', kinds: ['ping'] }
  const shown = await owner.follow(await owner.submit(`${path}/new?environment=development`, path, fields))
  const endpoint = new RegExp(`${path}/whk_\\w+`).exec(shown.text)?.[0] ?? ''
  for (const page of [shown.text, (await owner.get(endpoint)).text, (await owner.get(`${endpoint}/edit`)).text]) {
    expect(linksIn(page, `${path}?`)).toContain(`${path}?environment=development`)
  }
  const removed = await owner.submit(`${endpoint}/remove`, `${endpoint}/remove`)
  expect(removed.headers.get('location')).toBe(`${path}?done=removed&environment=development`)
})

test('an environment that does not exist is ignored', async () => {
  const { slug } = await scene(true)
  for (const part of switching) {
    const shown = await owner.get(`/console/${slug}${part}?environment=staging`)
    expect([part, shown.status, shownIn(shown.text)]).toEqual([part, 200, 'production'])
  }
})

/** What a page leads to below an address: its links and forms. A form that reads says in its fields what its address would say. */
const waysIn = (html: string, root: string): readonly URL[] => {
  const ways: { readonly url: URL; readonly reads: boolean }[] = []
  const found = (attribute: string) => ({
    element: (element: HTMLRewriterTypes.Element) => {
      const address = (element.getAttribute(attribute) ?? '').replaceAll('&amp;', '&')
      const url = new URL(address, world.server.url)
      const reads = element.getAttribute('method') === 'get'
      if (reads) url.search = ''
      ways.push({ url, reads })
    },
  })
  new HTMLRewriter()
    .on('a[href]', found('href'))
    .on('form[action]', found('action'))
    .on('form[method="get"] input[type="hidden"]', {
      element: (field) => {
        const { url, reads } = ways.at(-1) ?? {}
        if (reads === true) url?.searchParams.set(field.getAttribute('name') ?? '', field.getAttribute('value') ?? '')
      },
    })
    .transform(html)
  return ways.flatMap(({ url }) => (`${url.pathname}/`.startsWith(`${root}/`) ? [url] : []))
}
/** A link to the other environment says so in its words, or in those of its row. */
const isNamed = (href: string, says: string, html: string): boolean => {
  const [, words = ''] = html.replaceAll('&amp;', '&').split(`href="${href}"`)
  return (
    says !== '' &&
    words
      .split(/<\/a>(?!.{0,400}<\/li>)|<\/li>/s)[0]
      ?.toLowerCase()
      .includes(says) === true
  )
}

test('every link and form of every page of an app leads on with the environment that is chosen', async () => {
  const stocked = await createStockedWorld()
  try {
    const forgetful: string[] = []
    let ways = 0
    for (const who of ['user', 'operator'] as const) {
      const browser = await signedInBrowser(stocked.server.url, loginOf(stocked, who))
      const pages = siteMap.filter(
        (site) => site.who === who && /^\/(?:console|desk\/apps)\/:slug/.test(site.pattern) && !site.isDownload,
      )
      expect(pages.length).toBeGreaterThan(25)
      for (const path of pages.flatMap(({ paths }) => paths(stocked))) {
        const [root = ''] = /^\/(?:console|desk\/apps)\/[^/]+/.exec(path) ?? []
        for (const environment of environments) {
          const said = new URLSearchParams(path.split('?')[1]).get('environment')
          const address = said === null ? `${path}${path.includes('?') ? '&' : '?'}environment=${environment}` : path
          const { text } = await browser.get(address)
          const found = waysIn(text, root).map(({ pathname, search, searchParams }) => ({
            href: pathname + search,
            says: searchParams.getAll('environment').join(),
          }))
          // What belongs to one environment leads on in its own.
          const shown = /(?:whk|crd)_\w+/.test(path) ? found[0]?.says : (said ?? environment)
          if (shown === undefined || shown === '') forgetful.push(`${address}: no link`)
          const wrong = found.filter(({ href, says }) => says !== shown && !isNamed(href, says, text))
          forgetful.push(...wrong.map(({ href }) => `${address}: ${href}`))
          ways += found.length
        }
      }
    }
    expect(forgetful).toEqual([])
    expect(ways).toBeGreaterThan(2_000)
  } finally {
    await endWorld(stocked)
  }
}, 300_000)

test('a form without a word about an environment leads back with the one that is chosen', async () => {
  const { slug } = await scene(true)
  const settings = `/console/${slug}/settings`
  const rule = await owner.submit(`${settings}?environment=development`, `/console/${slug}/rollback-rule`)
  expect(rule.headers.get('location')).toBe(`${settings}?done=rollback&environment=development`)
  const plain = await owner.submit(settings, `/console/${slug}/rollback-rule`)
  expect(plain.headers.get('location')).toBe(`${settings}?done=rollback`)
  const trail = await owner.get(`/console/${slug}/trail?environment=development`)
  const rows = await owner.get(`/console/${slug}/versions?status=active&environment=development`)
  for (const { text } of [trail, rows]) {
    expect(text).toMatch(/<form method="get"[^>]*><input type="hidden" name="environment" value="development"\/>/)
  }
  expect(rows.text).toContain(`<a href="/console/${slug}/versions?environment=development">Clear</a>`)
})

test('no other app and no page beside those of the app learns which environment is chosen', async () => {
  const { slug } = await scene(true)
  const second = await scene(false)
  const { text } = await owner.get(`/console/${slug}/credentials?environment=development`)
  for (const path of [`/console/${second.slug}`, '/console', '/installs', '/']) expect(text).toContain(`href="${path}"`)
})

test('the secrets that have ended, and the rollbacks, are those of one environment', async () => {
  const { slug } = await scene(true)
  const ended = `/console/${slug}/credentials/ended`
  const { text } = await owner.get(`/console/${slug}/credentials?environment=development`)
  const link = /href="([^"]*\/revoke\?[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  await owner.submit(link, link.split('?', 1)[0] ?? '')
  expect((await owner.get(`${ended}?environment=development`)).text).toMatch(/crd_[0-9a-f]+|Revoked/)
  expect((await owner.get(`${ended}?environment=production`)).text).toContain('No secret has ended in production.')
})

test('the installs of an app are listed and exported for one environment', async () => {
  const app = await scene(true)
  await installApp(world.platform, app, await addUser(world.platform))
  const path = `/console/${app.slug}/installs`
  expect(rows(await owner.get(path))).toBe(1)
  const development = await owner.get(`${path}?environment=development`)
  expect(rows(development)).toBe(0)
  expect(development.text).toContain('No installs in development yet.')
  expect(rows(await owner.submit(path, `${path}/export`))).toBe(1)
  const form = await owner.formOn(path, `${path}/export`)
  const none = await owner.post(`${path}/export?environment=development`, form)
  expect([none.status, rows(none)]).toEqual([200, 0])
})
