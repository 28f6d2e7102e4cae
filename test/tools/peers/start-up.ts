import type { ServingProcess } from '../../bench/processes.ts'
import { median } from '../../bench/report.ts'
import { proven, type Runner } from './rounds.ts'
import { requestsOf } from './work.ts'

/** Milliseconds from the start of the process until it has introspected a token; medians of warm starts. */
export type StartUp = { readonly startMs: number; readonly executableMs: number }

/** Starts the servers in turn. */
export const startUps = async (runners: readonly Runner[], rounds: number): Promise<ReadonlyMap<Runner, StartUp>> => {
  const times = new Map<Runner, { start: number[]; executable: number[] }>()
  for (const runner of runners) times.set(runner, { start: [], executable: [] })
  for (let round = 0; round < rounds; round += 1) {
    for (const [runner, { start, executable }] of times) {
      const { prepared } = runner
      start.push(await timed(runner, prepared.start))
      if (prepared.startExecutable !== null) executable.push(await timed(runner, prepared.startExecutable))
    }
  }
  return new Map(
    [...times].map(([runner, { start, executable }]) => [
      runner,
      { startMs: median(start), executableMs: median(executable) },
    ]),
  )
}

const timed = async ({ contender, prepared }: Runner, start: () => Promise<ServingProcess>): Promise<number> => {
  const request = requestsOf('introspect', contender, prepared.material, []).at(-1)
  const begun = performance.now()
  const server = await start()
  await proven('introspect', server, request)
  const lasted = performance.now() - begun
  await server.stop()
  return lasted
}
