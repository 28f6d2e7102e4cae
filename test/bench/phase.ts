import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { addCodes, fill, type Filled } from './fill.ts'
import { type Load, type LoadMode, type LoadResult, runLoad } from './load.ts'
import type { CaseName, Options } from './options.ts'
import { programIn, type ServingProcess, startPlatform, startRaw } from './processes.ts'
import { check, firstAnswer, introspection, sameTokenTo } from './requests.ts'

export const connections = 32
/** More codes than can be exchanged in a second, so that no round runs out of them. */
const codesPerSecond = 40_000

export type Measured = LoadResult & { readonly processorMicroseconds: number }

/** One round: each server in turn. `theirs` is the other revision, if one is compared. */
export type Round = {
  readonly raw: Measured
  readonly ours: Measured
  readonly theirs: Measured | null
  readonly residentBytes: number
}

/** A source tree that fills a file and serves it. */
export type Build = {
  readonly command: readonly string[]
  readonly fill: typeof fill
  readonly addCodes: typeof addCodes
}

/** The build that these files belong to. */
export const workingTree: Build = { command: programIn(join(import.meta.dir, '../..')), fill, addCodes }

/** The servers of a phase: the platform on a filled file, and the raw server. */
export type Stage = {
  readonly folder: string
  readonly build: Build
  readonly filled: Filled
  readonly platform: ServingProcess
  readonly raw: ServingProcess
}

/** Fills a new file, or the database of this URL, with this many live tokens of each kind, starts both servers, and stops them after `play`. */
export const onStage = async <T>(
  parent: string,
  live: number,
  env: Readonly<Record<string, string>>,
  play: (stage: Stage) => Promise<T>,
  build: Build = workingTree,
  url: string | null = null,
): Promise<T> => {
  const folder = mkdtempSync(join(parent, 'stage-'))
  const database = url ?? join(folder, 'app-platform.db')
  const filled = await build.fill(database, live)
  let platform = await startPlatform(folder, database, {}, build.command)
  const answers = join(folder, 'answers.json')
  await Bun.write(answers, JSON.stringify(await exampleAnswers(build, filled, platform.port)))
  if (Object.keys(env).length > 0) {
    await platform.stop()
    platform = await startPlatform(folder, database, env, build.command)
  }
  const raw = await startRaw(folder, answers)
  try {
    return await play({ folder, build, filled, platform, raw })
  } finally {
    await raw.stop()
    await filled.platform.database.close()
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Exchange and refresh share a path and the shape of their answer. */
const exampleAnswers = async (build: Build, filled: Filled, port: number) => {
  const { me, token, resources } = filled.requests
  const every = [
    me,
    checksOf(filled),
    token,
    resources,
    installsOf(filled),
    introspectionsOf(filled),
    await build.addCodes(filled, 1),
  ]
  const examples = every.map((texts) => texts[0] ?? '')
  return await Promise.all(examples.map(async (text) => await firstAnswer(port, text)))
}

const introspectionsOf = ({ requests }: Filled): readonly string[] =>
  requests.resources.map((read) => introspection(requests.refresh[0] ?? '', read))

const checksOf = ({ requests }: Filled): readonly string[] => requests.me.map(check)

const installsOf = ({ requests }: Filled): readonly string[] => requests.resources.map(sameTokenTo('/installs'))

const modes = {
  me: 'cycle',
  check: 'cycle',
  introspect: 'cycle',
  token: 'cycle',
  resources: 'cycle',
  installs: 'cycle',
  exchange: 'once',
  refresh: 'chain',
} as const satisfies Record<CaseName, LoadMode>

/** A server is warm when two windows agree within this share, at the latest after this many windows. */
const warmWithin = 0.03
const mostWarmUps = 6

export const measured = async (server: ServingProcess, load: Omit<Load, 'port'>): Promise<Measured> => {
  const before = server.processorSeconds()
  const result = await runLoad({ ...load, port: server.port })
  return { ...result, processorMicroseconds: ((server.processorSeconds() - before) / result.requests) * 1e6 }
}

/** Runs windows that are not counted until the processor time of two in a row agrees. */
const warmUp = async (window: () => Promise<Measured>): Promise<void> => {
  let last = Number.POSITIVE_INFINITY
  for (let count = 0; count < mostWarmUps; count += 1) {
    const { processorMicroseconds } = await window()
    if (Math.abs(processorMicroseconds / last - 1) <= warmWithin) return
    last = processorMicroseconds
  }
}

/** Warms every server up, then plays rounds of one case: raw first, then ours and theirs, each first in every other round. */
export const playCase = async (
  stage: Stage,
  name: CaseName,
  options: Options,
  other: Stage | null = null,
): Promise<readonly Round[]> => {
  const shares = options.rounds + mostWarmUps
  const play = async (which: Stage, number: number) =>
    await measured(which.platform, await loadOf(which, name, { number, seconds: options.seconds, shares }))
  const rawLoad = await loadOf(stage, name, { number: 0, seconds: options.seconds, shares })
  const playRaw = async () =>
    await measured(stage.raw, { ...rawLoad, mode: rawLoad.mode === 'once' ? 'cycle' : rawLoad.mode })

  await warmUp(playRaw)
  for (const which of other === null ? [stage] : [stage, other]) {
    let number = 0
    await warmUp(async () => await play(which, number++))
  }
  const rounds: Round[] = []
  for (let round = 0; round < options.rounds; round += 1) {
    const number = mostWarmUps + round
    const raw = await playRaw()
    const first = other !== null && round % 2 === 1 ? await play(other, number) : null
    const ours = await play(stage, number)
    const theirs = other === null ? null : (first ?? (await play(other, number)))
    rounds.push({ raw, ours, theirs, residentBytes: stage.platform.residentBytes() })
  }
  return rounds
}

type Turn = { readonly number: number; readonly seconds: number; readonly shares: number }

/** The requests of one round. A round spends its refresh tokens, so each has its own. */
export const loadOf = async (stage: Stage, name: CaseName, turn: Turn): Promise<Omit<Load, 'port'>> => ({
  mode: modes[name],
  requests: await written(stage, `${name}-${turn.number}`, await requestsOf(stage, name, turn)),
  connections,
  seconds: turn.seconds,
})

const requestsOf = async ({ build, filled }: Stage, name: CaseName, turn: Turn): Promise<readonly string[]> => {
  if (name === 'exchange') return await build.addCodes(filled, codesPerSecond * turn.seconds)
  if (name === 'introspect') return introspectionsOf(filled)
  if (name === 'check') return checksOf(filled)
  if (name === 'installs') return installsOf(filled)
  if (name !== 'refresh') return filled.requests[name]
  const share = Math.floor(filled.requests.refresh.length / turn.shares)
  return filled.requests.refresh.slice(turn.number * share, (turn.number + 1) * share)
}

export const written = async ({ folder }: Stage, name: string, requests: readonly string[]): Promise<string> => {
  const file = join(folder, `${name}.requests`)
  await Bun.write(file, requests.join('\0'))
  return file
}
