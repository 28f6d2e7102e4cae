import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { type Answer, call } from '../support/call.ts'
import { together } from '../support/crash.ts'
import { isLong, patience, percentile, rounds, seed, seeded } from '../support/proof.ts'
import { startServer } from '../support/running-server.ts'
import {
  appToken,
  authorize,
  createWorld,
  endWorld,
  exchange,
  exchangeBody,
  grantTokens,
  refresh,
  refreshBody,
  signIn,
  type Tokens,
  type World,
} from '../support/world.ts'

const kills = rounds(12)
/** The last rounds on each file end with SIGTERM instead, which lets what runs come to its end. */
const politeRounds = 2

/** What one client was told, and what it asked last without hearing an answer. Unknown may have happened or not, never half. */
type Story = {
  readonly spentCodes: string[]
  readonly deadAccess: string[]
  readonly revoked: Tokens[]
  readonly requestIds: string[]
  readonly appTokens: string[]
  readonly deadAppTokens: string[]
  readonly versions: Map<string, number>
  current: Tokens | null
  unheard: Unheard | null
}
type Unheard =
  | { readonly kind: 'exchange' | 'refresh'; readonly body: unknown; readonly key: string }
  | { readonly kind: 'revoke'; readonly tokens: Tokens }
  | { readonly kind: 'version'; readonly version: string; readonly key: string }
  | { readonly kind: 'other' }

const emptyStory = (): Story => ({
  spentCodes: [],
  deadAccess: [],
  revoked: [],
  requestIds: [],
  appTokens: [],
  deadAppTokens: [],
  versions: new Map(),
  current: null,
  unheard: null,
})

class Unanswered extends Error {}

let counted = 0
const next = () => (counted += 1)

/** One client that goes on until the server no longer answers. */
const live = async (world: World, session: string, managing: string, story: Story): Promise<void> => {
  const { server, app } = world
  const post = async (unheard: Unheard, path: string, body: unknown, token?: string, key?: string): Promise<Answer> => {
    story.unheard = unheard
    const answer = await call(server.url, 'POST', path, {
      body,
      ...(token === undefined ? {} : { token }),
      ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
    }).catch(() => {
      throw new Unanswered()
    })
    story.unheard = null
    if (answer.status >= 400) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
    story.requestIds.push(answer.headers.get('x-request-id') ?? '')
    return answer
  }
  const other: Unheard = { kind: 'other' }

  for (;;) {
    const code = await authorize(server.url, session, app).catch(() => {
      throw new Unanswered()
    })
    const exchangeKey = `kill-${next()}`
    const body = exchangeBody(app, code)
    story.current = null
    let tokens: Tokens = (
      await post({ kind: 'exchange', body, key: exchangeKey }, '/oauth/token', body, undefined, exchangeKey)
    ).body
    story.spentCodes.push(code)
    story.current = tokens
    for (let turn = 0; turn < 3; turn += 1) {
      const key = `kill-${next()}`
      const refreshing = refreshBody(app, tokens.refreshToken)
      const before = tokens
      tokens = (await post({ kind: 'refresh', body: refreshing, key }, '/oauth/token', refreshing, undefined, key)).body
      story.deadAccess.push(before.accessToken)
      story.current = tokens
    }
    await post({ kind: 'revoke', tokens }, '/oauth/revoke', { ...app.development, token: tokens.refreshToken })
    story.revoked.push(tokens)
    story.current = null

    const issued = (await post(other, '/token', { ...app.development, scope: 'site:read' })).body.accessToken
    story.appTokens.push(issued)
    const doomed = (await post(other, '/token', { ...app.development, scope: 'site:read' })).body.accessToken
    await post(other, '/oauth/revoke', {}, doomed)
    story.deadAppTokens.push(doomed)

    const version = `1.0.${next()}`
    const key = `kill-${version}`
    const made = (await post({ kind: 'version', version, key }, '/versions', { version }, managing, key)).body
    story.versions.set(made.version, made.revision)
  }
}

const play = async (world: World, session: string, managing: string, story: Story): Promise<void> => {
  try {
    await live(world, session, managing, story)
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
  }
}

const statusOf = async (world: World, path: string, token: string): Promise<number> =>
  (await call(world.server.url, 'GET', path, { token })).status

/** What was acknowledged is there, and what was ended is over. */
const expectTold = async (world: World, managing: string, story: Story): Promise<void> => {
  const { server, app, platform } = world
  const over = [...story.deadAccess, ...story.revoked.map(({ accessToken }) => accessToken)]
  for (const token of over) expect(await statusOf(world, '/oauth/me', token)).toBe(401)
  for (const { refreshToken } of story.revoked) expect((await refresh(server.url, app, refreshToken)).status).toBe(401)
  for (const token of story.appTokens) expect(await statusOf(world, '/me', token)).toBe(200)
  for (const token of story.deadAppTokens) expect(await statusOf(world, '/me', token)).toBe(401)
  for (const [version, revision] of story.versions) {
    expect((await platform.database.queries.versions.byName(app.id, version))?.revision).toBe(revision)
  }
  await expectUnheard(world, managing, story)
  for (const code of story.spentCodes) expect((await exchange(server.url, app, code)).status).toBe(401)
}

/** A request without an answer, sent again under its key, ends as if it had been sent once. */
const expectUnheard = async (world: World, managing: string, { unheard, current }: Story): Promise<void> => {
  const { server, app, platform } = world
  const again = async (path: string, body: unknown, key: string, token?: string) =>
    await call(server.url, 'POST', path, {
      body,
      headers: { 'Idempotency-Key': key },
      ...(token === undefined ? {} : { token }),
    })
  switch (unheard?.kind) {
    case 'exchange':
    case 'refresh': {
      const first = await again('/oauth/token', unheard.body, unheard.key)
      const second = await again('/oauth/token', unheard.body, unheard.key)
      expect(first.status).toBe(200)
      expect([second.body.accessToken, second.body.refreshToken]).toEqual([
        first.body.accessToken,
        first.body.refreshToken,
      ])
      expect(await statusOf(world, '/oauth/me', first.body.accessToken)).toBe(200)
      if (current !== null) expect(await statusOf(world, '/oauth/me', current.accessToken)).toBe(401)
      return
    }
    case 'version': {
      expect((await again('/versions', { version: unheard.version }, unheard.key, managing)).status).toBe(201)
      expect((await platform.database.queries.versions.byName(app.id, unheard.version))?.revision).toBe(1)
      return
    }
    case 'revoke': {
      const alive = (await statusOf(world, '/oauth/me', unheard.tokens.accessToken)) === 200
      // Wholly there or wholly gone.
      expect((await refresh(server.url, app, unheard.tokens.refreshToken)).status).toBe(alive ? 200 : 401)
      return
    }
    case 'other':
    case undefined:
      if (current !== null) expect(await statusOf(world, '/oauth/me', current.accessToken)).toBe(200)
      return
    default:
      unheard satisfies never
  }
}

/** How long the kernel has let its first thread wait for a processor that others had. */
const waitedForProcessorMs = (pid: number): number => {
  const path = `/proc/${pid}/schedstat`
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6 : 0
}

const startAgain = async (world: World): Promise<World> => {
  const began = performance.now()
  const server = await startServer({ database: world.server.database })
  expect((await call(server.url, 'GET', '~/readyz')).status).toBe(200)
  const wall = performance.now() - began
  readyAfterMs.push(wall)
  readyByItselfMs.push(wall - waitedForProcessorMs(server.pid))
  return { ...world, server }
}

/** One life of the server under load, its end, and what the next one knows. Gives how many requests were acknowledged. */
const round = async (before: World, session: string, end: 'killed' | 'stopped'): Promise<[World, number]> => {
  const managing = await appToken(before.server.url, before.app.development)
  const since = before.platform.clock.now()
  const stories = Array.from({ length: 8 }, emptyStory)
  const playing = Promise.all(stories.map(async (story) => await play(before, session, managing, story)))
  await Bun.sleep(20 + random(200))
  if (end === 'killed') await before.server.kill()
  else expect(await before.server.stop()).toBe(0)
  const world = await startAgain(before)
  await playing

  const { platform, app } = world
  expect(await platform.database.check()).toEqual([])
  await together(stories.length, async (index) => {
    const story = stories[index]
    if (story !== undefined) await expectTold(world, managing, story)
  })
  const audit = await platform.database.queries.audit.list({ appId: app.id, since: since - 60_000, limit: 100_000 })
  const told = new Set(audit.map(({ requestId }) => requestId))
  const heard = stories.flatMap(({ requestIds }) => requestIds)
  expect(heard.filter((id) => !told.has(id))).toEqual([])
  expect(await statusOf(world, '~/api/session', session)).toBe(200)
  return [world, heard.length]
}

/** So many lives of one database: as it grows, so does what `check` reads, and what it holds expires. */
const livesOfOneFile = 50
const readyAfterMs: number[] = []
const readyByItselfMs: number[] = []
const random = seeded(seed)

const lives = async (count: number): Promise<number> => {
  let world = await createWorld()
  const session = await signIn(world.server.url, world.user)
  const untouched = await grantTokens(world)
  let acknowledged = 0
  for (let life = 0; life < count; life += 1) {
    const [next, heard] = await round(world, session, life < count - politeRounds ? 'killed' : 'stopped')
    world = next
    acknowledged += heard
    expect(await statusOf(world, '/oauth/me', untouched.accessToken)).toBe(200)
  }
  await endWorld(world)
  return acknowledged
}

test(
  `${kills} times killed or stopped under load, the server comes back knowing what it told each client`,
  async () => {
    let acknowledged = 0
    for (let done = 0; done < kills; done += livesOfOneFile) {
      acknowledged += await lives(Math.min(livesOfOneFile, kills - done))
      if (isLong)
        console.log(`kills: ${Math.min(kills, done + livesOfOneFile)} done, ${acknowledged} requests acknowledged`)
    }
    expect(acknowledged).toBeGreaterThan(kills)
    if (!isLong) return // how long a start takes beside other tests says little
    const [median, most, slowest] = [0.5, 0.99, 1].map((part) => percentile(readyAfterMs, part))
    const byItself = percentile(readyByItselfMs, 1)
    console.log(
      `kills: ready after ${median} ms at the median, ${most} ms in 99 of 100, ${slowest} ms at most; ` +
        `at most ${byItself} ms without waiting for a processor`,
    )
    expect(byItself).toBeLessThan(2_000)
  },
  patience,
)
