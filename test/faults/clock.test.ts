import { expect, setDefaultTimeout } from 'bun:test'
import { readKeptTime } from '../../db/sqlite/acknowledged.ts'
import { call } from '../support/call.ts'
import { crash, eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { isLong, patience, rounds, seed, seeded } from '../support/proof.ts'
import { type RunningServer, startServer } from '../support/running-server.ts'
import { SetClock } from '../support/set-clock.ts'
import { appToken, createWorld, grantTokens, signIn, type World } from '../support/world.ts'
import { faultsIn } from '../support/database-file.ts'

setDefaultTimeout(patience)

const { test } = needs('faketime')

const statusAt = async ({ url }: RunningServer, path: string, token: string): Promise<number> =>
  (await call(url, 'GET', path, { token })).status

/** An app token that expires while it is asked for, until the time when it had expired is kept: a second later at most. */
const expectOver = async (server: RunningServer, token: string): Promise<void> => {
  const status = async () => await statusAt(server, '/me', token)
  expect(await eventually(status, (found) => found === 401)).toBe(401)
  const seenAt = Date.now()
  const kept = await eventually(
    async () => ({ status: await status(), at: readKeptTime(server.database) ?? 0 }),
    ({ at }) => at >= seenAt,
  )
  expect(kept.status).toBe(401)
  expect(kept.at).toBeGreaterThanOrEqual(seenAt)
}

/** What has ended, in every way that a token can, at a server whose app tokens live for one second. */
type Ended = {
  readonly expired: string
  readonly revoked: string
  readonly spent: string
  readonly refreshed: string
}

const endSome = async (world: World): Promise<Ended> => {
  const { server, app } = world
  const expired = await appToken(server.url, app.development)
  const grant = await grantTokens(world)
  const other = await grantTokens(world)
  await call(server.url, 'POST', '/oauth/revoke', { body: { ...app.development, token: grant.refreshToken } })
  const body = { grantType: 'refresh_token', ...app.development, refreshToken: other.refreshToken }
  expect((await call(server.url, 'POST', '/oauth/token', { body })).status).toBe(200)
  await expectOver(server, expired)
  return { expired, revoked: grant.accessToken, spent: grant.refreshToken, refreshed: other.accessToken }
}

const expectStillRevoked = async ({ server, app }: World, ended: Ended): Promise<void> => {
  expect(await statusAt(server, '/oauth/me', ended.revoked)).toBe(401)
  expect(await statusAt(server, '/oauth/me', ended.refreshed)).toBe(401)
  const body = { grantType: 'refresh_token', ...app.development, refreshToken: ended.spent }
  expect((await call(server.url, 'POST', '/oauth/token', { body })).status).toBe(401)
}

const expectStillEnded = async (world: World, ended: Ended): Promise<void> => {
  expect(await statusAt(world.server, '/me', ended.expired)).toBe(401)
  await expectStillRevoked(world, ended)
}

/** New tokens are given and good, whatever the time is said to be. The server is ready unless the machine's clock was set back. */
const expectServing = async ({ server, app }: World, setTo = '+0'): Promise<void> => {
  const isBack = !setTo.startsWith('+')
  const ready = await call(server.url, 'GET', '~/readyz')
  expect(ready.status).toBe(isBack ? 503 : 200)
  if (isBack) expect(ready.body.error.details).toEqual({ conditions: ['clock_ahead'] })
  const offset = /^app_platform_clock_offset_seconds (\S+)$/m.exec(
    await (await fetch(`${server.url}/metrics`)).text(),
  )?.[1]
  expect(Number(offset) > 30).toBe(isBack)
  expect(await statusAt(server, '/me', await appToken(server.url, app.production))).toBe(200)
}

const startAgain = async (world: World, env: Readonly<Record<string, string>>): Promise<World> => ({
  ...world,
  server: await startServer({ database: world.server.database, env }),
})

const jumps = ['-1h', '-1d', '-1y', '@1970-01-01 00:00:10', '+1h', '+1d', '+1y']
const random = seeded(seed)
/** One of them in the tests, all of them repeatedly in `bun run prove`. */
const chosen = isLong
  ? Array.from({ length: rounds(1) }, () => jumps[random(jumps.length)] ?? '+0')
  : ['@1970-01-01 00:00:10']

test('what has ended stays ended however the clock is set under the server, and after restarts at that time', async () => {
  const clock = new SetClock()
  const env = { ...clock.env, LIFETIME_APP_TOKEN: '1' }
  let world = await createWorld({ env })
  const ended = await endSome(world)
  for (const jump of chosen) {
    clock.set(jump)
    await expectStillEnded(world, ended)
    await expectServing(world, jump)
    if (random(2) === 0) await world.server.kill()
    else expect(await world.server.stop()).toBe(0)
    world = await startAgain(world, env)
    await expectStillEnded(world, ended)
    await expectServing(world, jump)
    const logged = world.server.log().match(/"condition\.began","kind":"clock_ahead",.*run app-platform clock reset/g)
    expect(logged?.length ?? 0).toBe(jump.startsWith('+') ? 0 : 1)
    clock.set('+0')
    await expectStillEnded(world, ended)
    await expectServing(world)
    expect(await faultsIn(world.server.database)).toEqual([])
  }
  clock.set('-1d')
  world = await crash(world, { env })
  await expectStillEnded(world, ended)
  await expectServing(world, '-1d')
  await world.platform.database.close()
  expect(await world.server.stop()).toBe(0)
})

test('a clock set back to before a token expired does not revive it, in the running server or after a restart or kill', async () => {
  const clock = new SetClock()
  const env = { ...clock.env, LIFETIME_APP_TOKEN: '3' }
  const { server, platform, app } = await createWorld({ env })
  const issuedAt = Date.now()
  const token = await appToken(server.url, app.development)
  const status = async () => await statusAt(server, '/me', token)
  await expectOver(server, token)
  await platform.database.close()
  clock.set(`-${Math.ceil((Date.now() - issuedAt) / 1_000) + 60}`) // however long the next start takes
  expect(await status()).toBe(401)
  await server.kill()
  const next = await startServer({ database: server.database, env })
  expect(await statusAt(next, '/me', token)).toBe(401)
  expect(await next.stop()).toBe(0)
})

test('a process that was frozen for an hour refuses what expired meanwhile from its first answer on, and deletes nothing', async () => {
  const clock = new SetClock()
  const world = await createWorld({ env: clock.env })
  const { server, user, app } = world
  const token = await appToken(server.url, app.development)
  const grant = await grantTokens(world)
  const session = await signIn(server.url, user)
  process.kill(server.pid, 'SIGSTOP')
  const answers = Promise.all([
    statusAt(server, '/me', token),
    statusAt(server, '/oauth/me', grant.accessToken),
    statusAt(server, '~/api/session', session),
  ])
  clock.set('+3601')
  process.kill(server.pid, 'SIGCONT')

  expect(await answers).toEqual([401, 401, 200])
  expect((await call(server.url, 'GET', '~/readyz')).status).toBe(200)
  // The hour was no time that passed for the process: set right again, all of it is there.
  clock.set('+0')
  expect(await statusAt(server, '/me', token)).toBe(200)
  await world.platform.database.close()
  expect(await server.stop()).toBe(0)
})
