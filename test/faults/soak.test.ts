import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { rotateCredential } from '../../src/operations/credentials/credentials.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { isLong, patience, percentile, rounds } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import {
  addApp,
  appToken,
  authorize,
  createWorld,
  endWorld,
  exchange,
  refresh,
  signIn,
  type World,
} from '../support/world.ts'
import { faultsIn } from '../support/database-file.ts'
import { sessionCookieOf } from '../support/cookie.ts'

/** Short lifetimes, so that the purge removes as much as the callers create. */
const env = {
  LIFETIME_CODE: '10',
  LIFETIME_APP_TOKEN: '20',
  LIFETIME_ACCESS_TOKEN: '20',
  LIFETIME_REFRESH_TOKEN: '40',
  LIFETIME_SESSION: '40',
}
/** The purge runs every minute and removes only what has expired. */
const settlingSeconds = 130
/** Four thousand pages cause a checkpoint. A WAL that starts over is truncated to that size, so a smaller size means nothing. */
const settledWalMegabytes = 16.5
/** How much more memory may be noise. */
const leeway = 1.3

type Vitals = {
  readonly megabytes: number
  readonly handles: number
  readonly walMegabytes: number
  readonly databaseMegabytes: number
}

const inMegabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10
const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0)

const vitalsOf = ({ server: { pid, database } }: World): Vitals => {
  const resident = Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  return {
    megabytes: inMegabytes(resident),
    handles: readdirSync(`/proc/${pid}/fd`).length,
    walMegabytes: inMegabytes(sizeOf(`${database}-wal`)),
    databaseMegabytes: inMegabytes(sizeOf(database)),
  }
}
/** Resident memory under load in the first and the last quarter of the time after warm-up. */
const memoryUnderLoad = (vitals: readonly Vitals[]): { readonly first: number; readonly last: number } => {
  const readings = vitals.map(({ megabytes }) => megabytes)
  const quarter = Math.max(1, Math.floor(readings.length / 4))
  return { first: percentile(readings.slice(0, quarter), 0.5), last: percentile(readings.slice(-quarter), 0.5) }
}

const told = (moment: string, vitals: Vitals): void => {
  if (!isLong) return
  const { megabytes, handles, walMegabytes, databaseMegabytes } = vitals
  console.log(
    `  ${moment}: ${megabytes} MB, ${handles} handles, WAL ${walMegabytes} MB, database ${databaseMegabytes} MB`,
  )
}

/** Someone who signs in, connects the app, refreshes, looks at pages and leaves, or just stays away. */
const person = async ({ server, app, user }: World, done: AbortSignal, counts: { calls: number }): Promise<void> => {
  for (let lives = 0; !done.aborted; lives += 1) {
    const session = await signIn(server.url, user)
    if (session === undefined) continue // too many at a time: again
    let tokens = (await exchange(server.url, app, await authorize(server.url, session, app))).body
    for (let steps = 0; steps < 20 && !done.aborted; steps += 1) {
      const me = await call(server.url, 'GET', '/oauth/me', { token: tokens.accessToken })
      const renewed = await refresh(server.url, app, tokens.refreshToken)
      const page = await call(server.url, 'GET', '~/account', {
        headers: { Cookie: sessionCookieOf(server.url, session) },
      })
      counts.calls += 3
      expect([me.status, renewed.status, page.status].filter((status) => status >= 500 && status !== 503)).toEqual([])
      if (renewed.status !== 200) break // its lifetime was over
      tokens = renewed.body
    }
    if (lives % 2 === 0) await call(server.url, 'DELETE', '~/api/session', { token: session })
  }
}

const program = async ({ server, app }: World, done: AbortSignal, counts: { calls: number }): Promise<void> => {
  for (let version = 0; !done.aborted; version += 1) {
    const token = await appToken(server.url, app.development)
    const artifact = { filename: 'app.zip', contentBase64: Buffer.alloc(100_000, version).toString('base64') }
    const body = { version: `1.0.${version % 20}`, artifact }
    const answers = [
      await call(server.url, 'POST', '/versions', { token, body }),
      await call(server.url, 'GET', '/versions', { token }),
      await call(server.url, 'GET', '/me', { token: `${token}x` }),
    ]
    counts.calls += 4
    expect(answers.filter(({ status }) => status >= 500 && status !== 503)).toEqual([])
    await Bun.sleep(5)
  }
}

/** Backups and rotations on a schedule. */
const operating = async (world: World, done: AbortSignal, everyMs: number): Promise<void> => {
  const { server, platform, user } = world
  const { clientId } = (await addApp(platform, user)).development
  for (let count = 0; !done.aborted; count += 1) {
    await rotateCredential(platform, trace, operator, { clientId, graceHours: 0 })
    const file = join(server.database, '..', `backup-${count}.db`)
    expect((await runProgram(['backup', file, '--database', server.database])).code).toBe(0)
    rmSync(file)
    for (let waited = 0; waited < everyMs && !done.aborted; waited += 100) await Bun.sleep(100)
  }
}

test(
  'after a long time of mixed load, backups and rotations, memory, file handles and the WAL have not grown',
  async () => {
    const seconds = isLong ? rounds(1) * 60 : 1
    const world = await createWorld({ env })
    const done = new AbortController()
    const counts = { calls: 0 }
    const load = Promise.all([
      ...Array.from({ length: 4 }, async () => await person(world, done.signal, counts)),
      ...Array.from({ length: 4 }, async () => await program(world, done.signal, counts)),
      operating(world, done.signal, isLong ? 20_000 : 500),
    ])
    const vitals: Vitals[] = []
    const warm = Math.min(60, seconds / 2)
    for (let second = 1; second <= seconds; second += 1) {
      await Promise.race([Bun.sleep(1_000), load])
      if (second % 30 !== 0 && second !== Math.ceil(warm)) continue
      vitals.push(vitalsOf(world))
      told(`after ${second} s and ${counts.calls} calls`, vitalsOf(world))
    }
    const warmed = vitals[isLong ? 1 : 0] ?? vitalsOf(world)
    done.abort()
    await load
    if (isLong) {
      await Bun.sleep(settlingSeconds * 1_000)
      const settled = vitalsOf(world)
      told('settled', settled)
      const under = memoryUnderLoad(vitals.slice(1))
      const longestWal = Math.max(...vitals.map(({ walMegabytes }) => walMegabytes))
      console.log(
        `  after a minute and at the end: memory ${warmed.megabytes} and ${settled.megabytes} MB, ` +
          `under load ${under.first} and ${under.last} MB; handles ${warmed.handles} and ${settled.handles}; ` +
          `WAL ${warmed.walMegabytes} and ${settled.walMegabytes} MB, at most ${longestWal}; ${counts.calls} calls`,
      )
      expect(settled.handles).toBeLessThanOrEqual(warmed.handles)
      expect(settled.walMegabytes).toBeLessThanOrEqual(settledWalMegabytes)
      expect(settled.megabytes).toBeLessThanOrEqual(warmed.megabytes * leeway)
      expect(under.last).toBeLessThanOrEqual(under.first * leeway)
      const metrics = (await call(world.server.url, 'GET', '~/metrics')).text
      console.log(
        `  ${metrics
          .split('\n')
          .filter((line) => /^(purged|database_|process_(resident|heap))/.test(line))
          .join('\n  ')}`,
      )
    }
    expect(counts.calls).toBeGreaterThan(0)
    expect((await call(world.server.url, 'GET', '~/readyz')).status).toBe(200)
    expect(await faultsIn(world.server.database)).toEqual([])
    await endWorld(world)
  },
  patience,
)
