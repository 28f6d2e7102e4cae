import { join } from 'node:path'
import { cores, pinned } from './processes.ts'

/** `cycle`: repeats the requests; `once`: sends each at most once; `chain`: each answer has the refresh token of a further request. */
export type LoadMode = 'cycle' | 'once' | 'chain'
export type Load = {
  readonly port: number
  readonly mode: LoadMode
  /** Whole requests, with a NUL between them. */
  readonly requests: string
  readonly connections: number
  readonly seconds: number
}
export type LoadResult = {
  readonly requests: number
  /** Per second. */
  readonly rate: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export const wrk = Bun.which('wrk')
export const generator = wrk === null ? 'Bun (install wrk for a generator that is no bottleneck)' : 'wrk'

/** Keeps every connection busy for these seconds. @throws if any answer was not a success */
export const runLoad = async (load: Load): Promise<LoadResult> => {
  const child = Bun.spawn(pinned(cores.load, wrk === null ? bunCommand(load) : wrkCommand(wrk, load)), {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await new Response(child.stdout).text()
  const line = output.split('\n').findLast((text) => text.startsWith('{'))
  if ((await child.exited) !== 0 || line === undefined) throw new Error(`The load generator failed: ${output}`)
  const { requests, seconds, p50Ms, p99Ms, refused, broken, late } = JSON.parse(line)
  if (refused + broken + late > 0) {
    throw new Error(`Of ${requests} requests ${refused} were refused, ${broken} broke off and ${late} came too late.`)
  }
  return { requests, rate: requests / seconds, p50Ms, p99Ms }
}

const wrkCommand = (program: string, { port, mode, requests, connections, seconds }: Load): readonly string[] => [
  program,
  '-t1',
  `-c${connections}`,
  `-d${seconds}s`,
  '--timeout=10s',
  '-s',
  join(import.meta.dir, 'load.lua'),
  `http://127.0.0.1:${port}`,
  '--',
  mode,
  requests,
]

const bunCommand = ({ port, mode, requests, connections, seconds }: Load): readonly string[] => [
  process.execPath,
  join(import.meta.dir, 'load-generator.ts'),
  ...[port, mode, requests, connections, seconds].map(String),
]
