import { expect, setDefaultTimeout } from 'bun:test'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { call } from '../../support/call.ts'
import { eventually } from '../../support/crash.ts'
import { Ledger } from '../../support/ledger.ts'
import { needs } from '../../support/needs.ts'
import { openAsOperator } from '../../support/operator.ts'
import { isLong, patience, percentile, rounds, seed, seeded } from '../../support/proof.ts'
import { type RunningServer, startServer } from '../../support/running-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser, appToken, installApp, signIn } from '../../support/world.ts'
import { straceWorks } from '../power-loss/recording.ts'
import { type Cast, scriptedRun, type Told } from './scripted-run.ts'

setDefaultTimeout(patience)
const wanted = rounds(3)
const traceable = straceWorks()

const writes = 'pwrite64'
const syncs = 'fsync,fdatasync'
type Fault = { readonly what: string; readonly calls: string; readonly effect: string; readonly forGood: boolean }
const faults: readonly Fault[] = [
  { what: 'kill at a write', calls: writes, effect: 'signal=KILL', forGood: false },
  { what: 'kill at a sync', calls: syncs, effect: 'signal=KILL', forGood: false },
  { what: 'write error', calls: writes, effect: 'error=EIO', forGood: false },
  { what: 'write errors for good', calls: writes, effect: 'error=EIO', forGood: true },
  { what: 'sync error', calls: syncs, effect: 'error=EIO', forGood: false },
  { what: 'sync errors for good', calls: syncs, effect: 'error=EIO', forGood: true },
  { what: 'no room for a write', calls: writes, effect: 'error=ENOSPC', forGood: false },
  { what: 'no room for writes for good', calls: writes, effect: 'error=ENOSPC', forGood: true },
  { what: 'a disk that became read-only', calls: writes, effect: 'error=EROFS', forGood: true },
]

const parts = ['', '-wal', '.acknowledged'] as const
type Part = (typeof parts)[number]

/**
 * strace counts the calls of each thread, and threads write different files: so each file has its own n-th call, of the thread
 * that comes to it first. There are as few threads as can be, so that this is nearly the same call in every run.
 */
const strace = (files: readonly string[], log: string, ...expressions: readonly string[]): readonly string[] => [
  ...`strace -f -y -qqq -o ${log} --seccomp-bpf`.split(' '),
  ...files.flatMap((file) => ['-P', file]),
  ...expressions.flatMap((expression) => ['-e', expression]),
]
const fewThreads = { GOMAXPROCS: '1', UV_THREADPOOL_SIZE: '1' }

type Base = { readonly file: string; readonly cast: Cast }

/** A database with all users and apps, so that a run is short. */
const makeBase = async (): Promise<Base> => {
  const server = await startServer()
  const platform = await openAsOperator(server.database)
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  await installApp(platform, app, user)
  const cast = {
    app,
    session: await signIn(server.url, user),
    managing: await appToken(server.url, app.development),
  }
  await platform.database.close()
  expect(await server.stop()).toBe(0)
  return { file: server.database, cast }
}

const copyOf = ({ file }: Base): string => {
  const copy = join(temporaryFolder(), 'app-platform.db')
  for (const part of parts) if (existsSync(file + part)) copyFileSync(file + part, copy + part)
  return copy
}

/** How many calls of each kind to each file its busiest thread makes, from the start of the server to its orderly end. */
const countCalls = async (base: Base): Promise<(calls: string, part: Part) => number> => {
  const file = copyOf(base)
  const log = `${file}.strace`
  const files = parts.map((part) => file + part)
  const under = strace(files, log, `trace=${writes},${syncs}`)
  const server = await startServer({ database: file, env: fewThreads, under })
  await scriptedRun(server.url, base.cast)
  await server.stop()
  const made = [...readFileSync(log, 'utf8').matchAll(/^(\d+) +(\w+)\(\d+<([^>]+)>/gm)]
  return (calls, part) => {
    const threads = made.flatMap(([, thread = '', name = '', path]) =>
      calls.split(',').includes(name) && path === file + part ? [thread] : [],
    )
    return Math.max(0, ...threads.map((thread) => threads.filter((other) => other === thread).length))
  }
}

const notStarted = async (error: unknown): Promise<null> => {
  const [, said = ''] = /^The server did not start: ([\s\S]*)$/.exec(error instanceof Error ? error.message : '') ?? []
  expect(error).toMatchObject({ message: expect.stringContaining('did not start') })
  expect(said).not.toMatch(/^\s+at |node_modules/m)
  return null
}

const expectUnready = async ({ url }: RunningServer): Promise<void> => {
  const status = async () => (await call(url, 'GET', '~/readyz')).status
  expect(await eventually(status, (found) => found === 503)).toBe(503)
}

/**
 * What is said while the fault lasts: nothing that contradicts the ledger, and in doubt a refusal. After an error of the disk
 * the server is in doubt for good, and says that only a restart ends it.
 */
const expectHonest = async (
  server: RunningServer,
  { ledger, unplanned, refused }: Told,
  { effect, forGood }: Fault,
  hasStruck: boolean,
): Promise<void> => {
  expect(unplanned).toEqual([])
  if (effect === 'signal=KILL') return
  expect(await ledger.contradictions(server.url, 'in doubt')).toEqual([])
  expect((await call(server.url, 'GET', '~/healthz')).status).toBe(200)
  const isFull = effect === 'error=ENOSPC'
  if (isFull ? refused > 0 && forGood : hasStruck) await expectUnready(server)
  if (!isFull && hasStruck) expect(server.log()).toContain('will only be known after a restart')
}

type Point = { readonly fault: Fault; readonly part: Part; readonly at: number }

/** One run with a fault at the n-th call, the start after it, and how long that took. */
const suffer = async (base: Base, { fault, part, at }: Point): Promise<number> => {
  const file = copyOf(base)
  const inject = `inject=${fault.calls}:${fault.effect}:when=${at}${fault.forGood ? '+' : ''}`
  const log = `${file}.strace`
  const under = strace([file + part], log, `trace=${fault.calls}`, inject)
  const server = await startServer({ database: file, env: fewThreads, under }).catch(notStarted)
  let ledger = new Ledger()
  if (server !== null) {
    const told = await scriptedRun(server.url, base.cast)
    ledger = told.ledger
    const hasStruck = readFileSync(log, 'utf8').includes('(INJECTED)')
    await expectHonest(server, told, fault, hasStruck).catch((error: unknown) => {
      // A server whose store has failed exits after some seconds, perhaps before all calls are made.
      const isGone = error instanceof Error && 'code' in error && server.log().includes('"event":"database.stopped"')
      if (!isGone) throw error
    })
    await server.stop()
  }

  const began = performance.now()
  const next = await startServer({ database: file })
  const readyAfter = performance.now() - began
  expect(await ledger.contradictions(next.url, 'nothing')).toEqual([])
  const platform = await openAsOperator(file)
  expect(await ledger.missing(platform, file, base.cast.app.id)).toEqual([])
  await platform.database.close()
  expect(await next.stop()).toBe(0)
  return readyAfter
}

/** All faults of a run, in an order that the seed decides; in `bun run prove` the kills come first. */
const everyPoint = async (base: Base): Promise<readonly Point[]> => {
  const countOf = await countCalls(base)
  const points = parts.flatMap((part) => {
    if (isLong) console.log(`disk-calls: …${part}: ${countOf(writes, part)} writes, ${countOf(syncs, part)} syncs`)
    return faults.flatMap((fault) =>
      Array.from({ length: countOf(fault.calls, part) }, (_, index): Point => ({ fault, part, at: index + 1 })),
    )
  })
  const random = seeded(seed)
  const isLater = ({ fault }: Point) => isLong && fault.effect !== 'signal=KILL'
  return points
    .map((point) => ({ point, place: random(2 ** 30) + (isLater(point) ? 2 ** 30 : 0) }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ point }) => point)
}

needs('strace').test.skipIf(!traceable)(
  'killed or failed by the disk at any single write or sync, the server stays honest and the next one knows what was told',
  async () => {
    const base = await makeBase()
    const points = (await everyPoint(base)).slice(0, wanted)
    const readyAfterMs: number[] = []
    for (const [index, point] of points.entries()) {
      try {
        readyAfterMs.push(await suffer(base, point))
      } catch (error) {
        throw new Error(`Broken by ${point.fault.what} number ${point.at} of …${point.part}.`, { cause: error })
      }
      if (isLong && (index + 1) % 50 === 0) console.log(`disk-calls: ${index + 1} of ${points.length} done`)
    }
    expect(readyAfterMs.length).toBe(points.length)
    if (!isLong) return
    const [median, most] = [0.5, 1].map((part) => percentile(readyAfterMs, part))
    console.log(`disk-calls: ${points.length} faults; ready after ${median} ms at the median, ${most} ms at most`)
  },
)
