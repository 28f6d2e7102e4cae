import { runLoad } from './load.ts'
import type { Options } from './options.ts'
import { connections, type Stage, written } from './phase.ts'

/** Reads alone, then with one writing connection for every eight that read. */
export type ReadsDuringWrites = {
  readonly alone: number
  readonly during: number
  readonly duringP99Ms: number
  readonly writes: number
}

export const readsDuringWrites = async (stage: Stage, options: Options): Promise<readonly ReadsDuringWrites[]> => {
  const { port } = stage.platform
  const { seconds } = options
  const { me, token } = stage.filled.requests
  const read = { port, seconds, connections, mode: 'cycle' as const, requests: await written(stage, 'read', me) }
  const write = { ...read, connections: connections / 8, requests: await written(stage, 'write', token) }
  const rounds: ReadsDuringWrites[] = []
  await runLoad(read)
  await runLoad(write)
  for (let round = 0; round < options.rounds; round += 1) {
    const alone = await runLoad(read)
    const [reads, writes] = await Promise.all([runLoad(read), runLoad(write)])
    rounds.push({ alone: alone.rate, during: reads.rate, duringP99Ms: reads.p99Ms, writes: writes.rate })
  }
  return rounds
}
