import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { addCodes, fill, type Filled } from './fill.ts'
import { type Load, type LoadMode, type LoadResult, runLoad } from './load.ts'
import type { CaseName, Options } from './options.ts'
import { type ServingProcess, startPlatform, startRaw } from './processes.ts'
import { firstAnswer } from './requests.ts'

export const connections = 32
/** More than can be exchanged in a second, so that no round runs out of codes. */
const codesPerSecond = 40_000

type Measured = LoadResult & { readonly processorMicroseconds: number }

/** Raw and ours in one round, one right after the other. */
export type Round = { readonly raw: Measured; readonly ours: Measured; readonly residentBytes: number }

/** Where a phase runs: a filled file, the platform that serves it and the raw server beside it. */
export type Stage = {
  readonly folder: string
  readonly filled: Filled
  readonly platform: ServingProcess
  readonly raw: ServingProcess
}

/** Fills a fresh file with so many live tokens and starts both servers. */
export const onStage = async <T>(
  parent: string,
  live: number,
  env: Readonly<Record<string, string>>,
  play: (stage: Stage) => Promise<T>,
): Promise<T> => {
  const folder = join(parent, `stage-${live}-${Object.keys(env).length}`)
  mkdirSync(folder, { mode: 0o700 })
  const database = join(folder, 'app-platform.db')
  const filled = await fill(database, live)
  let platform = await startPlatform(folder, database)
  const answers = join(folder, 'answers.json')
  await Bun.write(answers, JSON.stringify(await exampleAnswers(filled, platform.port)))
  if (Object.keys(env).length > 0) {
    await platform.stop()
    platform = await startPlatform(folder, database, env)
  }
  const raw = await startRaw(folder, answers)
  try {
    return await play({ folder, filled, platform, raw })
  } finally {
    await raw.stop()
    await filled.platform.database.close()
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Exchange and refresh share a path and the shape of their answer. */
const exampleAnswers = async (filled: Filled, port: number) => {
  const { me, token, resources } = filled.requests
  const examples = [me, token, resources, await addCodes(filled, 1)].map((texts) => texts[0] ?? '')
  return await Promise.all(examples.map(async (text) => await firstAnswer(port, text)))
}

const modes = {
  me: 'cycle',
  token: 'cycle',
  resources: 'cycle',
  exchange: 'once',
  refresh: 'chain',
} as const satisfies Record<CaseName, LoadMode>

const warmUpSeconds = 3

export const measured = async (server: ServingProcess, load: Omit<Load, 'port'>): Promise<Measured> => {
  const before = server.processorSeconds()
  const result = await runLoad({ ...load, port: server.port })
  return { ...result, processorMicroseconds: ((server.processorSeconds() - before) / result.requests) * 1e6 }
}

/** Rounds of one case, raw and ours in turn; the first one warms up and is not counted. */
export const playCase = async (stage: Stage, name: CaseName, options: Options): Promise<readonly Round[]> => {
  const rounds: Round[] = []
  for (let number = 0; number <= options.rounds; number += 1) {
    const seconds = number === 0 ? Math.min(warmUpSeconds, options.seconds) : options.seconds
    const load = await loadOf(stage, name, { number, seconds, rounds: options.rounds })
    const raw = await measured(stage.raw, { ...load, mode: load.mode === 'once' ? 'cycle' : load.mode })
    const ours = await measured(stage.platform, load)
    if (number > 0) rounds.push({ raw, ours, residentBytes: stage.platform.residentBytes() })
  }
  return rounds
}

/** The requests of one round. A refresh token is spent when its round is over, so each round has its own. */
const loadOf = async (
  stage: Stage,
  name: CaseName,
  round: { readonly number: number; readonly seconds: number; readonly rounds: number },
): Promise<Omit<Load, 'port'>> => ({
  mode: modes[name],
  requests: await written(stage, name, await requestsOf(stage.filled, name, round)),
  connections,
  seconds: round.seconds,
})

const requestsOf = async (
  filled: Filled,
  name: CaseName,
  round: { readonly number: number; readonly seconds: number; readonly rounds: number },
): Promise<readonly string[]> => {
  if (name === 'exchange') return await addCodes(filled, codesPerSecond * round.seconds)
  if (name !== 'refresh') return filled.requests[name]
  const share = Math.floor(filled.requests.refresh.length / (round.rounds + 1))
  return filled.requests.refresh.slice(round.number * share, (round.number + 1) * share)
}

export const written = async ({ folder }: Stage, name: string, requests: readonly string[]): Promise<string> => {
  const file = join(folder, `${name}.requests`)
  await Bun.write(file, requests.join('\0'))
  return file
}
