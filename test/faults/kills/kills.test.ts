import { expect, test } from 'bun:test'
import { checkFile } from '../../../db/check.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { call } from '../../support/call.ts'
import { together } from '../../support/crash.ts'
import { processorTimeOf } from '../../support/processor.ts'
import { isLong, patience, percentile, rounds, seed, seeded } from '../../support/proof.ts'
import { startServer } from '../../support/running-server.ts'
import { appToken, createWorld, endWorld, grantTokens, signIn, type World } from '../../support/world.ts'
import { emptyHistory, play, type ClientHistory } from './client-history.ts'
import { expectStillAcknowledged, expectAcknowledged, statusOf } from './expect-acknowledged.ts'

const kills = rounds(2)
/** So many kills of one database: as it grows, so does what `check` reads, and what it holds expires. */
const killsOfOneFile = isLong ? 50 : 25
/** Each file's last lives end with SIGTERM instead, which lets what runs come to its end. */
const politeEnds = 2
/** A moment is one between two of so many answers, and up to so long after it. */
const answers = isLong ? 120 : 24
const milliseconds = 20

/** A start on a busy machine takes a while, after which a refresh without a key is repeated. */
const env = { LIFETIME_REFRESH_RETRY: '60' }

const readyAfterMs: number[] = []
const readyByItselfMs: number[] = []

const startAgain = async (world: World): Promise<World> => {
  const began = performance.now()
  const server = await startServer({ env, database: world.server.database })
  expect((await call(server.url, 'GET', '~/readyz')).status).toBe(200)
  const wall = performance.now() - began
  readyAfterMs.push(wall)
  readyByItselfMs.push(wall - processorTimeOf(server.pid).waitedMs)
  return { ...world, server }
}

const answersIn = (histories: readonly ClientHistory[]): string[] => histories.flatMap(({ requestIds }) => requestIds)

type Random = (below: number) => number

const moment = async (histories: readonly ClientHistory[], random: Random): Promise<void> => {
  const awaited = random(answers)
  for (let tries = 0; answersIn(histories).length < awaited && tries < 5_000; tries += 1) await Bun.sleep(1)
  await Bun.sleep(random(milliseconds))
}

/** One life of the server under load, its end, and what the next one knows. */
const life = async (
  before: World,
  session: string,
  end: 'killed' | 'stopped',
  random: Random,
): Promise<[World, readonly ClientHistory[]]> => {
  const managing = await appToken(before.server.url, before.app.development)
  const since = before.platform.clock.now()
  const histories = Array.from({ length: 8 }, emptyHistory)
  const playing = Promise.all(histories.map(async (history) => await play(before, session, managing, history)))
  await moment(histories, random)
  if (end === 'killed') await before.server.kill()
  else expect(await before.server.stop()).toBe(0)
  const world = await startAgain(before)
  await playing

  const { platform, app } = world
  expect(checkFile(world.server.database, migrations)).toEqual([])
  await together(histories.length, async (index) => {
    const history = histories[index]
    if (history !== undefined) await expectAcknowledged(world, managing, history)
  })
  const audit = await platform.database.queries.audit.list({ appId: app.id, since: since - 5_000, limit: 100_000 })
  const told = new Set(audit.map(({ requestId }) => requestId))
  expect(answersIn(histories).filter((id) => !told.has(id))).toEqual([])
  expect(await statusOf(world, '~/api/session', session)).toBe(200)
  return [world, histories]
}

const livesOfOneFile = async (count: number, random: Random): Promise<number> => {
  let world = await createWorld({ env })
  const session = await signIn(world.server.url, world.user)
  const untouched = await grantTokens(world)
  const told: ClientHistory[] = []
  for (let lived = 0; lived < count + politeEnds; lived += 1) {
    const [next, histories] = await life(world, session, lived < count ? 'killed' : 'stopped', random)
    world = next
    told.push(...histories)
    const earlier = told[random(told.length)]
    if (earlier !== undefined) await expectStillAcknowledged(world, earlier)
    expect(await statusOf(world, '/oauth/me', untouched.accessToken)).toBe(200)
  }
  await endWorld(world)
  return answersIn(told).length
}

test(
  `after each of ${kills} kills under load, the server still has everything that it acknowledged to each client`,
  async () => {
    const files = Math.ceil(kills / killsOfOneFile)
    let done = 0
    let acknowledged = 0
    const lives = async (file: number) => {
      const count = Math.min(killsOfOneFile, kills - file * killsOfOneFile)
      acknowledged += await livesOfOneFile(count, seeded(seed + file))
      done += count
      if (isLong) console.log(`kills: ${done} done, ${acknowledged} requests acknowledged`)
    }
    // At length one after the other, so that how long a start takes says something.
    if (isLong) for (let file = 0; file < files; file += 1) await lives(file)
    else await together(files, lives)
    expect(done).toBe(kills)
    expect(acknowledged).toBeGreaterThan(kills)
    if (!isLong) return
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
