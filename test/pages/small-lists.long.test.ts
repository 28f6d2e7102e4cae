import { expect, test } from 'bun:test'
import { renameApp } from '../../src/operations/apps/apps.ts'
import { createCredential, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import { addRedirectUri } from '../../src/operations/redirect-uris.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { addApp, addUser, installApp, signIn } from '../support/world.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'

// Lists that are usually short: they offer a search when they are not. And what stands around a confirmation.

const world = await operatorWorldOfFile()
const owner = await signedInBrowser(world.server.url, world.user)

const isSearchable = (text: string): boolean => text.includes('type="search"')

test('a list of sessions can be searched by browser and address when it is long', async () => {
  const person = await addUser(world.platform, 'Many Browsers')
  const browser = await signedInBrowser(world.server.url, person)
  expect(isSearchable((await browser.get('/account/sessions')).text)).toBe(false)
  for (let signedIn = 0; signedIn < 10; signedIn += 1) await signIn(world.server.url, person)
  expect(isSearchable((await browser.get('/account/sessions')).text)).toBe(true)
  const found = await browser.get('/account/sessions?q=127.0')
  expect(found.text.match(/End session/g)).toHaveLength(10)
  const none = await browser.get('/account/sessions?q=%25')
  expect([none.text.includes('Nothing matches'), none.text.includes('End session')]).toEqual([true, false])
})

test('ended secrets are found by their label', async () => {
  const { slug } = await addApp(world.platform, world.user)
  for (const label of ['backend', 'worker', 'laptop', 'phone', 'tablet', 'watch', 'tv', 'car', 'fridge', 'desk_1']) {
    const { id } = await createCredential(world.platform, trace, commandLine, {
      slug,
      environment: 'development',
      label,
    }).catch(() => ({ id: '' }))
    if (id !== '') await revokeCredential(world.platform, trace, commandLine, id)
  }
  const path = `/console/${slug}/credentials/ended`
  expect(isSearchable((await owner.get(path)).text)).toBe(true)
  const { text } = await owner.get(`${path}?q=K_1`)
  expect([text.includes('desk_1'), text.includes('worker')]).toEqual([true, false])
})

test('the audit log of an app says how many events match', async () => {
  const { slug } = await addApp(world.platform, world.user)
  for (let name = 1; name <= 60; name += 1) {
    await renameApp(world.platform, trace, commandLine, { slug, name: `Name ${name}` })
  }
  expect((await owner.get(`/console/${slug}/trail?action=app.renamed`)).text).toContain('50 of 60 shown')
  expect((await owner.get(`/console/${slug}/trail?action=app.renamed&since=2000-01-01`)).text).toContain('50 of 60')
  expect((await owner.get(`/console/${slug}/trail?action=app.renamed&until=2000-01-01`)).text).not.toContain(' of 60')
})

test('every list can be read from its oldest row on, in pages that lead on and back', async () => {
  const person = await addUser(world.platform, 'Many Things')
  const browser = await signedInBrowser(world.server.url, person)
  const { slug } = await addApp(world.platform, person)
  const uriOf = (index: number) => `https://${slug}.example/${String(index * 7).padStart(3, '0')}${'/long'.repeat(50)}`
  for (let index = 52; index > 0; index -= 1) {
    const change = { slug, environment: 'development', uri: uriOf(index) } as const
    await addRedirectUri(world.platform, trace, commandLine, change)
    await installApp(world.platform, await addApp(world.platform, person), person)
  }
  const desk = await signedInBrowser(world.server.url, world.operator)
  const lists = [
    [browser, '/console?', /href="\/console\/([^"/]+)"><bdi>/g, 'sort=newest'],
    [browser, '/installs?', /\/installs\/(ins_\w+)\/end/g, ''],
    [browser, `/console/${slug}/trail?`, /<dt>ID<\/dt><dd><code>(\w+)/g, ''],
    [browser, `/console/${slug}/redirect-uris?q=long&`, /Remove (https[^"]*)"/g, 'sort=newest'],
    [desk, `/desk/audit?app=${slug}&`, /<dt>ID<\/dt><dd><code>(\w+)/g, ''],
    [desk, `/desk/installs?user=${person.email}&`, /href="\/desk\/apps\/([^"]+)"><bdi>/g, ''],
    [desk, '/desk/apps?', /href="\/desk\/apps\/([^"]+)"><bdi>/g, 'sort=newest'],
  ] as const
  for (const [reader, path, row, newestFirst] of lists) {
    if (!path.endsWith('&')) expect((await reader.get(path)).text).not.toContain('>Clear<')
    const newest = await everyPage(reader, path + newestFirst, row)
    const oldest = await everyPage(reader, `${path}sort=oldest`, row)
    expect([path, newest.rows.length > 50, oldest.rows]).toEqual([path, true, newest.rows.toReversed()])
    expect([path, oldest.first]).toEqual([path, oldest.rows.slice(0, 50)])
  }
})

const linkOf = (text: string, rel: 'next' | 'prev') =>
  text.match(new RegExp(`href="([^"]*)" rel="${rel}"`))?.[1]?.replaceAll('&amp;', '&')

/** The rows of every page of a list, and those of the first page as the links back show it. */
const everyPage = async (browser: PlainBrowser, path: string, row: RegExp) => {
  const rowsIn = (text: string) => [...text.matchAll(row)].map(([, found = '']) => found)
  const rows: string[] = []
  let text = ''
  for (let next: string | undefined = path; next !== undefined; next = linkOf(text, 'next')) {
    text = (await browser.get(next)).text
    rows.push(...rowsIn(text))
  }
  for (let back = linkOf(text, 'prev'); back !== undefined; back = linkOf(text, 'prev')) {
    text = (await browser.get(back)).text
  }
  return { rows, first: rowsIn(text) }
}

test('the order and the search of redirect URIs survive adding and removing one', async () => {
  const { slug } = await addApp(world.platform, world.user)
  const path = `/console/${slug}/redirect-uris`
  const uri = `https://${slug}.example/kept`
  const added = await owner.submit(`${path}?q=kept&sort=newest`, path, { environment: 'development', uri })
  expect(added.headers.get('location')).toBe(`${path}?q=kept&sort=newest&done=uri-added&environment=development`)
  const { text } = await owner.get(`${path}?q=kept&sort=newest`)
  const href = text.match(/href="([^"]*)" aria-label="Remove/)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const removed = await owner.submit(href, `${path}/remove`)
  expect(removed.headers.get('location')).toBe(`${path}?q=kept&sort=newest&done=uri-removed&environment=development`)
})

test('a confirmation page has the pages of its area around it, with the one that leads to it as the current one', async () => {
  const { slug } = await addApp(world.platform, world.user)
  const uri = `https://${slug}.example/more`
  await addRedirectUri(world.platform, trace, commandLine, { slug, environment: 'development', uri })
  const query = new URLSearchParams({ environment: 'development', uri }).toString()
  const { text } = await owner.get(`/console/${slug}/redirect-uris/remove?${query}`)
  expect(text).toContain(`<a href="/console/${slug}/redirect-uris?environment=development" aria-current="page">`)
  const account = await owner.get('/account/sessions/end-others')
  expect(account.text).toContain('<a href="/account/sessions" aria-current="page">')
  const desk = await signedInBrowser(world.server.url, world.operator)
  const question = await desk.get(`/desk/apps/${slug}/suspend`)
  expect(question.text).toContain('<a href="/desk/apps" aria-current="page">')
})

test('only what ends something or cannot be undone is red', async () => {
  const { slug } = await addApp(world.platform, world.user)
  const desk = await signedInBrowser(world.server.url, world.operator)
  const isRed = async (path: string) =>
    /<button type="submit" class="danger primary">/.test((await desk.get(path)).text)
  expect(await isRed(`/desk/apps/${slug}/transfer`)).toBe(false)
  expect(await isRed(`/desk/users/${world.user.id}/confirm`)).toBe(false)
  expect(await isRed(`/desk/apps/${slug}/delete`)).toBe(true)
})
