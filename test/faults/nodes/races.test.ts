import { expect } from 'bun:test'
import { maximumRedirectUris } from '../../../src/domain/registered-url.ts'
import { maximumEndpoints } from '../../../src/domain/webhook-event.ts'
import { plainBrowser, type PlainBrowser, type Seen } from '../../pages/support/plain-browser.ts'
import { type Answer, call } from '../../support/call.ts'
import { tally, together } from '../../support/crash.ts'
import { addEmbeddedVersion } from '../../support/embedding.ts'
import { needs } from '../../support/needs.ts'
import { createNodes, endNodes } from '../../support/nodes.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { patience, rounds } from '../../support/proof.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  appToken,
  authorize,
  exchangeBody,
  refreshBody,
  signIn,
  type Tokens,
  type World,
} from '../../support/world.ts'

const { afterAll, beforeAll, test } = needs('postgres')

const apps = 3
let nodes: readonly World[]
let world: World
let session: string
beforeAll(async () => {
  nodes = await createNodes(await postgresDatabase('node-races'), 3, {
    env: { QUOTA_APPS: String(apps), LIFETIME_REFRESH_RETRY: '60' },
  })
  const [first] = nodes
  if (first === undefined) throw new Error('no server')
  world = first
  session = await signIn(world.server.url, world.user)
}, patience)
afterAll(async () => await endNodes(nodes))

const attempts = 12

/** Two servers in even rounds, and three in odd ones. */
const serversOf = (round: number): readonly World[] => nodes.slice(0, 2 + (round % 2))

/** Answers 503 of all races. */
let refusedAsBusy = 0
afterAll(() => {
  if (refusedAsBusy > 0) console.log(`Sent again after 503: ${refusedAsBusy} requests.`)
})

/**
 * A server that its machine gives too little time answers 503. It has done nothing then, so the request is sent again: if it had,
 * the race would have no winner.
 */
const sent = async <T extends Pick<Answer, 'status' | 'headers'>>(send: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send()
    if (answer.status !== 503 || !answer.headers.has('retry-after') || attempt === 10) return answer
    refusedAsBusy += 1
    await Bun.sleep(1_000)
  }
}

/** So often at once, over these servers. None may answer that it has failed. */
const race = async <T extends Pick<Answer, 'status' | 'headers'>>(
  round: number,
  work: (url: string, index: number) => Promise<T>,
): Promise<readonly T[]> => {
  const servers = serversOf(round)
  const answers = await together(attempts, async (index) => {
    return await sent(async () => await work(servers[index % servers.length]?.server.url ?? '', index))
  })
  const failed = answers.filter(({ status }) => status >= 500)
  expect({ failed, because: failed.length === 0 ? [] : nodes.flatMap(failuresIn) }).toEqual({ failed: [], because: [] })
  return answers
}

/** What the server logged of requests that it failed or refused as unavailable, and why. */
const failuresIn = ({ server }: World): readonly string[] =>
  server.log().match(/^.*(?:"level":"(?:warn|error)"|"status":5\d\d).*$/gm) ?? []

const races = (rule: string, run: (round: number) => Promise<void>): void =>
  test(
    rule,
    async () => {
      for (let round = 0; round < rounds(1); round += 1) await run(round)
    },
    patience,
  )

const post = async (url: string, path: string, body: unknown, key?: string, token?: string): Promise<Answer> =>
  await call(url, 'POST', path, {
    body,
    ...(token === undefined ? {} : { token }),
    ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
  })
const freshCode = async () => await authorize(world.server.url, session, world.app)
const freshTokens = async (): Promise<Tokens> =>
  (await post(world.server.url, '/oauth/token', exchangeBody(world.app, await freshCode()))).body
/** The answers of all servers to an access token. */
const statusesOf = async (token: string) =>
  await Promise.all(nodes.map(async ({ server }) => (await call(server.url, 'GET', '/oauth/me', { token })).status))
const expectEndedEverywhere = async (...all: readonly Tokens[]) => {
  for (const { accessToken, refreshToken } of all) {
    expect(await statusesOf(accessToken)).toEqual([401, 401, 401])
    const body = refreshBody(world.app, refreshToken)
    for (const { server } of nodes) expect((await post(server.url, '/oauth/token', body)).status).toBe(401)
  }
}
const secretsIn = ({ body }: Answer): string => `${body.accessToken} ${body.refreshToken} ${body.grantId}`

races(
  'a code that is presented to several servers at once has one winner, and its family ends on all',
  async (round) => {
    const body = exchangeBody(world.app, await freshCode())
    const answers = await race(round, async (url) => await post(url, '/oauth/token', body))
    expect(tally(answers)).toEqual({ '200': 1, invalid_grant: attempts - 1 })
    await expectEndedEverywhere(...answers.filter(({ status }) => status === 200).map((answer): Tokens => answer.body))
  },
)

const codeBody = async () => exchangeBody(world.app, await freshCode())
const tokenBody = async () => refreshBody(world.app, (await freshTokens()).refreshToken)
for (const [what, bodyOf, keyOf] of [
  ['code with one idempotency key', codeBody, (round: number) => `code-${round}`],
  ['refresh token with one idempotency key', tokenBody, (round: number) => `refresh-${round}`],
  ['refresh token without a key', tokenBody, () => undefined],
] as const) {
  races(`a ${what} gives the same tokens on every server, at once and later`, async (round) => {
    const body = await bodyOf()
    const key = keyOf(round)
    const answers = await race(round, async (url) => await post(url, '/oauth/token', body, key))
    const later = await race(round, async (url) => await post(url, '/oauth/token', body, key))
    expect(tally([...answers, ...later])).toEqual({ '200': 2 * attempts })
    expect(new Set([...answers, ...later].map(secretsIn)).size).toBe(1)
    expect(await statusesOf(answers[0]?.body.accessToken)).toEqual([200, 200, 200])
  })
}

races(
  'a refresh token that was spent two refreshes ago ends the family on all servers when another gets it',
  async (round) => {
    const spent = await freshTokens()
    const [one, other] = [nodes[round % 3], nodes[(round + 1) % 3]]
    const body = refreshBody(world.app, spent.refreshToken)
    const second: Tokens = (await post(one?.server.url ?? '', '/oauth/token', body)).body
    const next: Tokens = (
      await post(one?.server.url ?? '', '/oauth/token', refreshBody(world.app, second.refreshToken))
    ).body
    expect(await statusesOf(next.accessToken)).toEqual([200, 200, 200])
    expect((await post(other?.server.url ?? '', '/oauth/token', body)).status).toBe(401)
    await expectEndedEverywhere(next)
  },
)

races('one idempotency key on several servers has one effect', async (round) => {
  const { platform } = world
  const app = await addApp(platform, await addUser(platform))
  const token = await appToken(world.server.url, app.development)
  const version = await race(round, async (url) => await post(url, '/versions', { version: '1.0.0' }, 'make', token))
  const rest = version.filter(({ status }) => status !== 201)
  expect(rest.length).toBeLessThan(attempts)
  expect(Object.keys(tally(rest)).filter((kind) => kind !== 'idempotency_in_progress')).toEqual([])
  expect(new Set(version.filter(({ status }) => status === 201).map(({ text }) => text)).size).toBe(1)
  expect((await platform.database.queries.versions.byName(app.id, '1.0.0'))?.revision).toBe(1)
})

/**
 * Sends the form of a page once from each attempt. The person has a session of each server, because requests of one session
 * wait for each other. The page comes from another server than the one that gets its form.
 */
const submitAll = async (
  round: number,
  user: World['user'],
  page: string,
  action: string,
  fieldsOf: (index: number) => Readonly<Record<string, string | readonly string[]>>,
): Promise<readonly Seen[]> => {
  const servers = serversOf(round)
  const sessions = await Promise.all(servers.map(async ({ server }) => await signIn(server.url, user)))
  const browserAt = (url: string, index: number): PlainBrowser => {
    const browser = plainBrowser(url, 'http://localhost')
    browser.cookies.set('session', sessions[index % sessions.length] ?? '')
    return browser
  }
  const forms = await together(attempts, async (index) => {
    const url = servers[(index + 1) % servers.length]?.server.url ?? ''
    return { ...(await browserAt(url, index).formOn(page, action)), ...fieldsOf(index) }
  })
  return await race(round, async (url, index) => await browserAt(url, index).post(action, forms[index] ?? {}))
}

/** A developer and an app with one secret and one redirect URI. */
const freshApp = async (): Promise<{ readonly owner: World['user']; readonly app: AppInWorld }> => {
  const owner = await addUser(world.platform)
  return { owner, app: await addApp(world.platform, owner) }
}
const environment = 'production'
const done = (answers: readonly Seen[]) => answers.filter(({ status }) => status === 200 || status === 303).length

races('secrets that are created on several servers at once are two at most', async (round) => {
  const { owner, app } = await freshApp()
  const page = `/console/${app.slug}/credentials`
  const answers = await submitAll(round, owner, `${page}/new`, page, () => ({ environment, label: '' }))
  expect(done(answers)).toBe(1)
  const { credentials } = world.platform.database.queries
  expect(await credentials.listByClient(app.production.clientId)).toHaveLength(2)
})

races(`redirect URIs that are added on several servers at once are ${maximumRedirectUris} at most`, async (round) => {
  const { owner, app } = await freshApp()
  const free = 3
  const { database, clock } = world.platform
  const { clientId } = app.production
  await database.transaction(async (q) => {
    for (let index = 0; index < maximumRedirectUris - 1 - free; index += 1) {
      const uri = `https://${app.slug}.example/${index}`
      await q.redirectUris.insert({ uri, clientId, createdAt: clock.now() })
    }
  })
  const page = `/console/${app.slug}/redirect-uris`
  const fields = (index: number) => ({ environment, uri: `https://${app.slug}.example/more/${index}` })
  expect(done(await submitAll(round, owner, page, page, fields))).toBe(free)
  const uris = await database.queries.redirectUris.listByApp(app.id)
  expect(uris.filter((row) => row.environment === environment)).toHaveLength(maximumRedirectUris)
})

races(`webhook endpoints that are added on several servers at once are ${maximumEndpoints} at most`, async (round) => {
  const { owner, app } = await freshApp()
  const fields = (index: number) => ({ environment, url: `https://93.184.215.14/${index}`, kinds: ['ping'] })
  const page = `/console/${app.slug}/webhooks`
  expect(done(await submitAll(round, owner, `${page}/new`, page, fields))).toBe(maximumEndpoints)
  const { webhookEndpoints } = world.platform.database.queries
  expect(await webhookEndpoints.countOfPlace(app.id, environment)).toBe(maximumEndpoints)
})

races(`apps that one account makes on several servers at once are ${apps} at most`, async (round) => {
  const owner = await addUser(world.platform)
  const fields = (index: number) => ({ name: 'Many', slug: `many-${round}-${index}`, scopes: ['site:read'] })
  expect(done(await submitAll(round, owner, '/console/new', '/console/new', fields))).toBe(apps)
  expect(await world.platform.database.queries.apps.countOwnedBy(owner.id)).toMatchObject({ live: apps })
})

races('an app that is installed in one place on several servers at once is installed once', async (round) => {
  const { app } = await freshApp()
  await addEmbeddedVersion(world.platform, app)
  const owner = await addUser(world.platform)
  const page = `/apps/${app.slug}/install`
  const answers = await submitAll(round, owner, page, page, () => ({ place: 'store my-store' }))
  expect(done(answers)).toBe(1)
  expect(await world.platform.database.queries.installs.pageOfUser(owner.id, '~', 10)).toHaveLength(1)
})
