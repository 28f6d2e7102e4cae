import { median } from '../report.ts'
import { proven, type Runner } from './rounds.ts'
import { requestsOf } from './work.ts'

/** Milliseconds from the start of the process until it has introspected a token, medians; everyone in turn, warm. */
export const startUps = async (runners: readonly Runner[], rounds: number): Promise<ReadonlyMap<Runner, number>> => {
  const times = new Map<Runner, number[]>(runners.map((runner) => [runner, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const runner of runners) times.get(runner)?.push(await startOnce(runner))
  }
  return new Map([...times].map(([runner, all]) => [runner, median(all)]))
}

const startOnce = async ({ contender, prepared }: Runner): Promise<number> => {
  const request = requestsOf('introspect', contender, prepared.material, []).at(-1)
  const begun = performance.now()
  const server = await prepared.start()
  await proven('introspect', server, request)
  const lasted = performance.now() - begun
  await server.stop()
  return lasted
}
