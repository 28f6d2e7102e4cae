import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { markdownTable } from './markdown.ts'
import type { Options } from './options.ts'
import { emptyPostgres, endPostgres, postgresDatabase } from '../support/postgres.ts'
import { type Build, type Measured, onStage, playCase, type Round, type Stage, workingTree } from './phase.ts'
import { programIn } from './processes.ts'
import { median, titles } from './report.ts'

const root = join(import.meta.dir, '../..')
const few = 1_000

const run = async (command: readonly string[], cwd: string): Promise<string> => {
  const child = Bun.spawn([...command], { cwd, stdout: 'pipe', stderr: 'pipe' })
  const [text, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${error.trim()}`)
  return text.trim()
}

/** Checks a revision out into a folder, with its dependencies. It fills its own files, because keys and schema may differ. */
const checkOut = async (revision: string, folder: string): Promise<Build & { readonly commit: string }> => {
  const commit = await run(['git', 'rev-parse', '--short', '--verify', `${revision}^{commit}`], root)
  const tree = join(folder, `tree-${commit}`)
  mkdirSync(tree)
  await run(['sh', '-c', `git -C "${root}" archive ${commit} | tar -x -C "${tree}"`], root)
  await run([process.execPath, 'install', '--frozen-lockfile'], tree)
  const { fill, addCodes }: Pick<Build, 'fill' | 'addCodes'> = await import(join(tree, 'test/bench/fill.ts'))
  return { commit, command: programIn(tree), fill, addCodes }
}

/**
 * Compares the working tree with a revision: medians, and the interval in which the true median lies with 95 %. Each has a file of its
 * own, or a database of one temporary PostgreSQL server.
 */
export const playAgainst = async (
  revision: string,
  folder: string,
  options: Options,
  say: (text: string) => void,
): Promise<readonly AgainstLine[]> => {
  const build = await checkOut(revision, folder)
  const placeOf = async (name: string) => (options.database === null ? null : await emptyPostgres(`bench ${name}`))
  const play = async (ours: Stage, theirs: Stage) => await playBoth(ours, theirs, build.commit, options, say)
  try {
    const [here, there] = [await placeOf('working tree'), await placeOf('revision')]
    return await onStage(
      folder,
      few,
      {},
      async (ours) => await onStage(folder, few, {}, async (theirs) => await play(ours, theirs), build, there),
      workingTree,
      here,
    )
  } finally {
    await endPostgres()
  }
}

/** Compares the program on PostgreSQL with the program on SQLite. Only the processor time of the program itself is counted. */
export const playOnPostgres = async (
  database: string,
  folder: string,
  options: Options,
  say: (text: string) => void,
): Promise<readonly AgainstLine[]> => {
  const url = database === 'postgres' ? await postgresDatabase('bench') : database
  const play = async (ours: Stage, theirs: Stage) => await playBoth(ours, theirs, 'SQLite', options, say)
  try {
    return await onStage(folder, few, {}, async (theirs) => {
      return await onStage(folder, few, {}, async (ours) => await play(ours, theirs), workingTree, url)
    })
  } finally {
    await endPostgres()
  }
}

const playBoth = async (ours: Stage, theirs: Stage, name: string, options: Options, say: (text: string) => void) => {
  const lines: AgainstLine[] = []
  const columns = ['raw CPU µs', `${name} CPU µs`, 'CPU µs', 'change', '95 % interval', 'req/s', 'p99 ms']
  const { head, row } = markdownTable([`Compared with ${name}`, ...columns])
  say(head)
  for (const title of options.cases) {
    const line = lineOf(titles[title], await playCase(ours, title, options, theirs))
    lines.push(line)
    say(row(cellsOf(line)))
  }
  return lines
}

export type AgainstLine = ReturnType<typeof lineOf>

const micro = (of: readonly Measured[]): number => median(of.map(({ processorMicroseconds }) => processorMicroseconds))

const lineOf = (title: string, rounds: readonly Round[]) => {
  const both = rounds.flatMap(({ ours, theirs }) => (theirs === null ? [] : [{ ours, theirs }]))
  const changes = both.map(({ ours, theirs }) => ours.processorMicroseconds / theirs.processorMicroseconds - 1)
  return {
    title,
    raw: micro(rounds.map(({ raw }) => raw)),
    theirs: micro(both.map(({ theirs }) => theirs)),
    ours: micro(both.map(({ ours }) => ours)),
    change: median(changes),
    interval: intervalOfMedian(changes),
    rate: median(both.map(({ ours }) => ours.rate)),
    p99Ms: median(both.map(({ ours }) => ours.p99Ms)),
  }
}

/** By order statistics: no assumption about how the values are spread. Below six values it is their whole range. */
const intervalOfMedian = (values: readonly number[]): readonly [low: number, high: number] => {
  const sorted = values.toSorted((a, b) => a - b)
  const skipped = Math.max(0, Math.floor((sorted.length - 1.96 * Math.sqrt(sorted.length)) / 2))
  return [sorted[skipped] ?? Number.NaN, sorted[sorted.length - 1 - skipped] ?? Number.NaN]
}

const percent = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)} %`

const cellsOf = (line: AgainstLine): readonly string[] => [
  line.title,
  line.raw.toFixed(1),
  line.theirs.toFixed(1),
  line.ours.toFixed(1),
  percent(line.change),
  line.interval.map(percent).join(' … '),
  Math.round(line.rate).toLocaleString('en'),
  line.p99Ms.toFixed(2),
]
