import { join } from 'node:path'
import type { Options } from './options.ts'
import { connections, measured, type Stage, written } from './phase.ts'
import { type ServingProcess, startServing } from './processes.ts'
import { median } from './report.ts'
import { backUp } from '../support/database-file.ts'

export const bareNames = ['me', 'token'] as const
export type BareName = (typeof bareNames)[number]

/** Shares of raw's speed, and processor time per request. */
export type BareFigures = {
  readonly name: BareName
  readonly bareRatio: number
  readonly ratio: number
  readonly rawMicroseconds: number
  readonly bareMicroseconds: number
  readonly microseconds: number
}

/** Raw, the shortest server on a copy of the file, and ours, one after the other in each round. The first round warms up. */
export const bareFigures = async (stage: Stage, options: Options): Promise<readonly BareFigures[]> => {
  const bare = await startBare(stage)
  try {
    const figures: BareFigures[] = []
    for (const name of bareNames) figures.push(await playBare(stage, bare, name, options))
    return figures
  } finally {
    await bare.stop()
  }
}

const startBare = async ({ folder }: Stage): Promise<ServingProcess> => {
  const copy = join(folder, 'bare.db')
  backUp(join(folder, 'app-platform.db'), copy)
  const command = [process.execPath, join(import.meta.dir, 'bare-server.ts'), copy]
  return await startServing({ command, log: join(folder, 'bare.log') })
}

const playBare = async (stage: Stage, bare: ServingProcess, name: BareName, options: Options): Promise<BareFigures> => {
  const requests = await written(stage, name, stage.filled.requests[name])
  const load = { mode: 'cycle', requests, connections, seconds: options.seconds } as const
  const rounds = []
  for (let number = 0; number <= options.rounds; number += 1) {
    const round = {
      raw: await measured(stage.raw, load),
      bare: await measured(bare, load),
      ours: await measured(stage.platform, load),
    }
    if (number > 0) rounds.push(round)
  }
  return {
    name,
    bareRatio: median(rounds.map(({ raw, bare: { rate } }) => rate / raw.rate)),
    ratio: median(rounds.map(({ raw, ours }) => ours.rate / raw.rate)),
    rawMicroseconds: median(rounds.map(({ raw }) => raw.processorMicroseconds)),
    bareMicroseconds: median(rounds.map((round) => round.bare.processorMicroseconds)),
    microseconds: median(rounds.map(({ ours }) => ours.processorMicroseconds)),
  }
}
