import { join } from 'node:path'
import type { CaseName, Options } from './options.ts'
import { loadOf, measured, type Stage } from './phase.ts'
import { type ServingProcess, startServing } from './processes.ts'
import { median } from './report.ts'
import { backUp } from '../support/database-file.ts'

/** An exchange does what a refresh does: both move a grant on. */
const bareNames: readonly CaseName[] = ['me', 'check', 'resources', 'introspect', 'token', 'refresh']

/** Shares of raw's speed, and processor time per request. */
export type BareFigures = {
  readonly name: CaseName
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
    for (const name of bareNames.filter((each) => options.cases.includes(each)))
      figures.push(await playBare(stage, bare, name, options))
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

const playBare = async (stage: Stage, bare: ServingProcess, name: CaseName, options: Options): Promise<BareFigures> => {
  const rounds = []
  for (let number = 0; number <= options.rounds; number += 1) {
    const load = await loadOf(stage, name, { number, seconds: options.seconds, shares: options.rounds + 1 })
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
