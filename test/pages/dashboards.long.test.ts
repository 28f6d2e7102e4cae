import { describe, expect, test } from 'bun:test'
import { setAppStatus, createApp } from '../../src/operations/apps/apps.ts'
import { countWaiting, readActivity } from '../../src/operations/counts/counts.ts'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { addRedirectUri } from '../../src/operations/redirect-uris.ts'
import { dayMs, dayOf } from '../../src/domain/count.ts'
import { uploadVersion } from '../operations/support/owner.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, appToken, installApp, type Login } from '../support/world.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

const world = await operatorWorldOfFile()

const pageFor = async (login: Login, path = '/'): Promise<string> =>
  (await (await signedInBrowser(world.server.url, login)).get(path)).text
/** The cells of the table behind the line of a tile. */
const tableOf = (html: string, label: string): Record<string, number> => {
  const [, table = ''] = html.split(`<caption>${label}, by day</caption>`)
  const rows = (table.split('</table>')[0] ?? '').matchAll(/<th scope="row">([^<]+)<\/th><td>([^<]+)<\/td>/g)
  return Object.fromEntries([...rows].map(([, day = '', value]) => [day, Number(value)]))
}
const liveApp = async (owner: Login): Promise<AppInWorld> => {
  const app = await addApp(world.platform, owner)
  await uploadVersion(world.platform, app, '1.0.0', ['submit', 'approve', 'activate'])
  return app
}
const isoDay = (daysAgo: number): string =>
  new Date(dayOf(world.platform.clock.now()) - daysAgo * dayMs).toISOString().slice(0, 10)
const add = async (
  appId: string,
  kind: 'tokens' | 'webhook_successes' | 'webhook_failures',
  count: number,
  daysAgo: number,
) => {
  const hour = dayOf(world.platform.clock.now()) - daysAgo * dayMs
  const row = { appId, environment: 'production', kind, hour, count } as const
  await world.platform.database.transaction(async (q) => await q.counts.add([row]))
}

describe('the numbers', () => {
  test('the table behind each line has the counts of thirty days, and the tile their sum', async () => {
    const owner = await addUser(world.platform)
    const app = await liveApp(owner)
    await add(app.id, 'tokens', 1_200, 29)
    await add(app.id, 'tokens', 34, 3)
    await add(app.id, 'tokens', 9_000, 30)
    for (const path of ['/', `/console/${app.slug}`]) {
      const html = await pageFor(owner, path)
      const table = tableOf(html, 'Tokens issued')
      const { byDay } = await readActivity(world.platform, { appId: app.id }, 'production')
      const expected = byDay.tokens.map(({ day, count }, index) => [
        `${new Date(day).toISOString().slice(0, 10)}${index === 29 ? ', so far' : ''}`,
        count,
      ])
      expect(table).toEqual(Object.fromEntries(expected))
      expect([table[isoDay(29)], table[isoDay(3)], table[`${isoDay(0)}, so far`], table[isoDay(30)]]).toEqual([
        1_200,
        34,
        0,
        undefined,
      ])
      expect(html).toContain('1,234')
      expect(html.match(/<svg class="spark"/g)?.length).toBeGreaterThanOrEqual(3)
    }
    expect(
      tableOf(await pageFor(owner, `/console/${app.slug}?environment=development`), 'Tokens issued')[isoDay(3)],
    ).toBe(0)
  })

  test('webhook success is the share of accepted calls, never 100 % after a failure, and days without calls have none', async () => {
    const owner = await addUser(world.platform)
    const app = await liveApp(owner)
    expect(await pageFor(owner)).toContain('No events sent yet')
    await add(app.id, 'webhook_successes', 9_999, 2)
    await add(app.id, 'webhook_failures', 1, 2)
    const html = await pageFor(owner)
    expect(html).toContain('99.9 %')
    expect(html).toContain('1 of 10,000 calls failed')
    expect(tableOf(html, 'Webhook success')).toEqual({ [isoDay(2)]: 99.9 })
  })

  test('another owner sees nothing of them', async () => {
    const owner = await addUser(world.platform)
    const app = await liveApp(owner)
    await add(app.id, 'tokens', 77_777, 1)
    const stranger = await addUser(world.platform)
    const own = await liveApp(stranger)
    for (const path of ['/', `/console/${own.slug}`]) {
      const html = await pageFor(stranger, path)
      expect(html).not.toContain('77,777')
      expect(html).not.toContain(app.slug)
    }
  })
})

test('a new app shows its steps with what is done instead of numbers, until its first version is submitted', async () => {
  const { platform } = world
  const owner = await addUser(platform)
  const slug = 'fresh-start'
  const scopes = 'profile:read site:read'
  const app = await createApp(platform, trace, operator, { ownerEmail: owner.email, name: 'Fresh', slug, scopes })
  const progress = async () => {
    const pages = await Promise.all([pageFor(owner), pageFor(owner, `/console/${slug}`)])
    const [home, overview] = pages.map((html) => [
      /(\d) of 6 steps done/.exec(html)?.[1],
      html.includes('class="stats"'),
    ])
    expect(home).toEqual(overview)
    return home
  }
  expect(await progress()).toEqual(['0', false])
  const secret = async () =>
    (await createCredential(platform, trace, operator, { slug, environment: 'development', label: null })).clientSecret
  const credentials = { clientId: app.clientIds.development, clientSecret: await secret() }
  const uri = 'https://fresh.example/callback'
  await addRedirectUri(platform, trace, operator, { slug, environment: 'development', uri })
  expect(await progress()).toEqual(['2', false])
  await appToken(world.server.url, credentials)
  expect(await progress()).toEqual(['3', false])
  const overview = await pageFor(owner, `/console/${slug}`)
  expect(overview).toContain(`href="/console/${slug}/first-call"`)
  expect(overview.match(/<li class="done">/g)).toHaveLength(3)
  const both = { development: credentials, production: credentials, redirectUri: uri, liveRedirectUri: uri }
  await uploadVersion(platform, { ...app, ...both }, '1.0.0', ['submit'])
  expect(await progress()).toEqual([undefined, true])
})

const attentionOn = async (login: Login, path?: string): Promise<string> =>
  (/<h2 id="attention">[\s\S]*?<\/section>/.exec(await pageFor(login, path)) ?? [''])[0]

describe('what needs attention', () => {
  test('is told with the app and a link, and not to anybody else', async () => {
    const { platform } = world
    const owner = await addUser(platform)
    const rejected = await addApp(platform, owner)
    await uploadVersion(platform, rejected, '1.0.0', ['submit', 'reject'])
    const suspended = await addApp(platform, owner)
    await setAppStatus(platform, trace, operator, { slug: suspended.slug, status: 'suspended' })
    const sound = await liveApp(owner)
    const found = await attentionOn(owner)
    expect(found).toContain('An operator has suspended the app')
    expect(found).toContain(`href="/console/${suspended.slug}"`)
    expect(found).toContain('Version 1.0.0 was rejected')
    expect(found).toContain(`href="/console/${rejected.slug}/versions/1.0.0"`)
    expect(found).not.toContain(sound.slug)
    expect(await attentionOn(await addUser(platform))).toBe('')
    await uploadVersion(platform, rejected, '1.0.1')
    expect(await attentionOn(owner)).not.toContain('was rejected')
  })

  test('one sentence stands for several apps, with their true number, and leads to the list of these apps', async () => {
    const { platform } = world
    const owner = await addUser(platform)
    const apps: AppInWorld[] = []
    for (let made = 0; made < 7; made += 1) apps.push(await liveApp(owner))
    const lacking = apps.slice(1)
    await platform.database.transaction(async (q) => {
      for (const app of lacking) {
        for (const { id } of await q.credentials.listByClient(app.production.clientId)) {
          await q.credentials.endAt([{ id }], 1)
        }
      }
    })
    const found = await attentionOn(owner)
    expect(found).toContain('6 live apps have no production secret')
    expect(found).not.toContain('more</summary>')
    expect(found).toContain('href="/console?needs=secret"')
    const list = await pageFor(owner, '/console?needs=secret')
    const shown = apps.map(({ slug }) => list.includes(`href="/console/${slug}"`))
    expect(shown).toEqual([false, true, true, true, true, true, true])
    expect(await pageFor(owner, '/console?needs=rejected')).not.toContain(`href="/console/${apps[1]?.slug}"`)
  })

  test('an app that is live without a production secret cannot be authorized', async () => {
    const { platform } = world
    const owner = await addUser(platform)
    const app = await liveApp(owner)
    expect(await attentionOn(owner, `/console/${app.slug}`)).toBe('')
    await platform.database.transaction(async (q) => {
      for (const { id } of await q.credentials.listByClient(app.production.clientId))
        await q.credentials.endAt([{ id: id }], 1)
    })
    expect(await attentionOn(owner, `/console/${app.slug}`)).toContain('live without a production secret')
  })
})

test('the start page has the last five events of all own apps, newest first, and of no other app', async () => {
  const { platform } = world
  const owner = await addUser(platform)
  const apps = [await addApp(platform, owner), await addApp(platform, owner)]
  const other = await addApp(platform, await addUser(platform))
  for (const app of [...apps, other])
    await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
  const html = await pageFor(owner)
  const [, events = ''] = html.split('<h2 id="events">')
  expect(events.match(/<p class="timeline-words">/g)).toHaveLength(5)
  const places = apps.map(({ slug }) => events.indexOf(`href="/console/${slug}"`))
  expect([places[0] === -1, (places[1] ?? 0) < (places[0] ?? 0)]).toEqual([false, true])
  expect(events).not.toContain(other.slug)
})

test('an operator sees how much waits, and other people do not', async () => {
  const { platform, operator: olive } = world
  const { reviews } = await countWaiting(platform)
  const app = await addApp(platform, world.user)
  await uploadVersion(platform, app, '1.0.0', ['submit'])
  const [, section = ''] = (await pageFor(olive)).split('<h2 id="operator">')
  expect(section).toMatch(new RegExp(`href="/desk/reviews">Versions to review</a>[^0-9]*${reviews + 1}<`))
  expect(await pageFor(world.user)).not.toContain('Waiting for you')
})

test('a person without apps sees what they installed and connected, and what to do next', async () => {
  const { platform } = world
  const person = await addUser(platform)
  expect(await pageFor(person)).toContain('No app is installed yet')
  await installApp(platform, await liveApp(world.user), person)
  const html = await pageFor(person)
  for (const part of ['Newsletter', 'href="/installs"', 'href="/console/new"', 'href="/account/sessions"']) {
    expect(html).toContain(part)
  }
  expect(html).not.toContain('Tokens issued')
})
