import { runLoad } from './load.ts'
import type { Options } from './options.ts'
import { connections, type Stage, written } from './phase.ts'

/** Reads with nothing beside them, then beside one writing connection for every eight that read. */
export type ReadsBesideWrites = {
  readonly alone: number
  readonly beside: number
  readonly besideP99Ms: number
  readonly writes: number
}

export const readsBesideWrites = async (stage: Stage, options: Options): Promise<readonly ReadsBesideWrites[]> => {
  const { port } = stage.platform
  const { seconds } = options
  const { me, token } = stage.filled.requests
  const read = { port, seconds, connections, mode: 'cycle' as const, requests: await written(stage, 'read', me) }
  const write = { ...read, connections: connections / 8, requests: await written(stage, 'write', token) }
  const rounds: ReadsBesideWrites[] = []
  for (let round = 0; round < options.rounds; round += 1) {
    const alone = await runLoad(read)
    const [reads, writes] = await Promise.all([runLoad(read), runLoad(write)])
    rounds.push({ alone: alone.rate, beside: reads.rate, besideP99Ms: reads.p99Ms, writes: writes.rate })
  }
  return rounds
}
