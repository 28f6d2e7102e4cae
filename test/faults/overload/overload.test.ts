import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { call } from '../../support/call.ts'
import { noVerdict, isLong, patience, rounds, seed } from '../../support/proof.ts'
import { runProgram } from '../../support/run-program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { createWorld, endWorld, type World } from '../../support/world.ts'
import type { CrowdPlan, CrowdReport, CrowdTally } from './crowd.ts'
import { mixedCalls } from './mixed-calls.ts'
import { verdictOn } from './verdict.ts'
import { faultsIn } from '../../support/database-file.ts'

/**
 * The limits of callers are off and everybody comes from another address: what protects the server here is the server. At
 * length callers are turned away after a short wait and come back at once, which is the hardest crowd: a server that did
 * not make it wait would do nothing but refuse.
 */
const env = { TRUSTED_PROXIES: '127.0.0.1', LONGEST_WAIT_MS: isLong ? '250' : '2000' }

let world: World
let calls: CrowdPlan['calls']
beforeAll(async () => {
  world = await createWorld({ env })
  const email = 'slow@example.com'
  const made = await runProgram(
    ['user', 'create', '--email', email, '--name', 'Slow', '--generate-password', '--json'].concat(
      '--database',
      world.server.database,
    ),
  )
  const { id, password } = JSON.parse(made.stdout)
  calls = await mixedCalls(world, { id, email, password })
})
afterAll(async () => {
  expect(await faultsIn(world.server.database)).toEqual([])
  await endWorld(world)
})

type Watch = {
  readonly milliseconds: readonly number[]
  readonly failed: number
  readonly topMegabytes: number
  readonly cpuSeconds: number
}

/** Asks for the health of the server all the time, on a connection of its own each time. */
const watching = async <T>(work: Promise<T>): Promise<readonly [T, Watch]> => {
  const milliseconds: number[] = []
  let failed = 0
  let topMegabytes = 0
  const done = new AbortController()
  const cpuBefore = processorSeconds(world.server.pid)
  const watch = (async () => {
    while (!done.signal.aborted) {
      const askedAt = performance.now()
      const status = await fetch(`${world.server.url}/healthz`, { keepalive: false }).then(
        (answer) => answer.status,
        () => 0,
      )
      if (status !== 200) failed += 1
      milliseconds.push(performance.now() - askedAt)
      topMegabytes = Math.max(topMegabytes, residentMegabytes(world.server.pid))
      await Bun.sleep(100)
    }
  })()
  const result = await work.finally(() => done.abort())
  await watch
  return [
    result,
    {
      milliseconds: milliseconds.toSorted((a, b) => a - b),
      failed,
      topMegabytes,
      cpuSeconds: processorSeconds(world.server.pid) - cpuBefore,
    },
  ]
}

const residentMegabytes = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)

/** User and system time, fields 14 and 15 of proc(5), in ticks of 10 ms; the name before them may hold spaces. */
const processorSeconds = (pid: number): number => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

let plans = 0
const crowd = async (
  plan: Pick<CrowdPlan, 'perSecond' | 'connections' | 'seconds'>,
  asked = calls,
): Promise<CrowdReport> => {
  const file = join(temporaryFolder(), 'plan.json')
  const port = Number(new URL(world.server.url).port)
  const serverPid = world.server.pid
  const whole: CrowdPlan = { ...plan, port, serverPid, calls: asked, seed: seed + (plans += 1), patienceMs: 5_000 }
  await Bun.write(file, JSON.stringify(whole))
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'crowd.ts'), file], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return JSON.parse(await new Response(child.stdout).text())
}

const talliesOf = ({ kinds }: CrowdReport): CrowdTally[] => Object.values(kinds)
const outcomes = ['good', 'turnedAway', 'odd', 'late', 'broken'] as const
const sum = (report: CrowdReport, field: (typeof outcomes)[number]): number =>
  talliesOf(report).reduce((total, tally) => total + tally[field], 0)
/** Calls per second that were sent, not planned: a crowd whose connections all wait sends nothing more. */
const sent = (report: CrowdReport): number =>
  Math.round(outcomes.reduce((total, field) => total + sum(report, field), 0) / report.seconds)
const goodput = (report: CrowdReport): number => Math.round(sum(report, 'good') / report.seconds)
/** What the rate would be if the server did not share the processor with other programs. */
const ownGoodput = (report: CrowdReport): number => Math.round(goodput(report) / report.processorShare)
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0

const told = (name: string, report: CrowdReport, watch: Watch): string => {
  const { milliseconds, topMegabytes, cpuSeconds } = watch
  const counts = (['turnedAway', 'late', 'broken'] as const).map((field) => `${field} ${sum(report, field)}`)
  const kinds = Object.entries(report.kinds).map(
    ([kind, { good, p50Ms, p99Ms }]) => `${kind} ${good} (${Math.round(p50Ms)}/${Math.round(p99Ms)} ms)`,
  )
  return (
    `  ${name}: ${sent(report)} sent/s, ${goodput(report)} good/s, ${counts.join(', ')}, unsent ${report.unsent}; healthz ${milliseconds.length} times, ` +
    `median ${Math.round(median(milliseconds))} ms, at most ${Math.round(milliseconds.at(-1) ?? 0)} ms; ` +
    `${topMegabytes} MB, ${cpuSeconds.toFixed(1)} s of processor, ${Math.round(100 * report.processorShare)} % of what it wanted (${ownGoodput(report)} good/s with all of it); good by kind (p50/p99): ${kinds.join(', ')}`
  )
}

test('of many more callers than the server can serve each is answered, told when to retry or made to wait, and none is lost', async () => {
  const [report, watch] = await watching(crowd({ perSecond: null, connections: 600, seconds: 1 }))
  expect(report.oddity).toBeNull()
  expect(sum(report, 'good')).toBeGreaterThan(0)
  expect(sum(report, 'broken')).toBe(0)
  expect(watch.milliseconds.length).toBeGreaterThan(0)
  expect(watch.failed).toBe(0)
  expect((await call(world.server.url, 'GET', '~/readyz')).status).toBe(200)
})

test('the proof gives no verdict if the server got less than half of the processor time that it wanted', () => {
  expect(verdictOn({ goodput: 0.8, processor: 0.1 })).toBe('holds')
  expect(verdictOn({ goodput: 0.79, processor: 0.49 })).toBe('no verdict')
  expect(verdictOn({ goodput: 0.79, processor: 0.5 })).toBe('broken')
})

test.if(isLong)(
  'with five times the load that it can serve, the server does at least four fifths of its best, and can be monitored throughout',
  async () => {
    const peaks: { readonly seen: number; readonly own: number }[] = []
    const overloaded: number[] = []
    const processorShares: number[] = []
    for (let round = 0; round < rounds(1); round += 1) {
      // Without sign-ins: with them all connections soon wait for a hash, and the peak would be none.
      const quick = calls.filter(({ name }) => name !== 'sign-in')
      for (const connections of [32, 128]) {
        const [report, watch] = await watching(crowd({ perSecond: null, connections, seconds: 5 }, quick))
        console.log(told(`${connections} connections`, report, watch))
        peaks.push({ seen: goodput(report), own: ownGoodput(report) })
        processorShares.push(report.processorShare)
      }
      const perSecond = 5 * Math.max(...peaks.slice(-2).map(({ seen }) => seen))
      const [report, watch] = await watching(crowd({ perSecond, connections: 12_000, seconds: 10 }))
      console.log(told(`${perSecond} calls a second`, report, watch))
      overloaded.push(ownGoodput(report))
      processorShares.push(report.processorShare)
      expect(report.oddity).toBeNull()
      expect(watch.failed).toBe(0)
      expect(sum(report, 'turnedAway')).toBeGreaterThan(0)
    }
    const own = peaks.map((peak) => peak.own)
    const peak = median(
      own.filter((_, index) => index % 2 === 0).map((one, index) => Math.max(one, own[2 * index + 1] ?? 0)),
    )
    const share = median(overloaded) / peak
    console.log(
      `  medians, as if nobody else had a share of the processor: peak ${peak} good/s, ` +
        `overloaded ${median(overloaded)} good/s: ${Math.round(100 * share)} %`,
    )
    const processor = Math.min(...processorShares)
    const verdict = verdictOn({ goodput: share, processor })
    if (verdict === 'no verdict')
      noVerdict(`the server got ${Math.round(100 * processor)} % of the processor time that it wanted`)
    expect(verdict).not.toBe('broken')
  },
  patience,
)
