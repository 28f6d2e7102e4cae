import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildProgram } from '../../../src/build.ts'
import { endPostgres, emptyPostgres } from '../../support/postgres.ts'
import { removeTemporaryFolders, temporaryFolder } from '../../support/temporary-folder.ts'
import { connections } from '../../bench/phase.ts'
import { environment } from '../../bench/report.ts'
import type { Contender } from './contender.ts'
import { findGlewlwyd } from './glewlwyd.ts'
import { type Options, readOptions, usage } from './options.ts'
import { installPeers } from './peers.ts'
import { platform } from './platform.ts'
import { playWork, type Round, type Runner, startRunner, stopRunner } from './rounds.ts'
import { startUps } from './start-up.ts'
import { type Column, table } from './table.ts'
import { type WorkName, workNames } from './work.ts'

type Entry = { readonly contender: Contender; readonly title: string; readonly live: number }

/** Of the platform alone, at each size. */
const growthPace = { rounds: 2, warmUpSeconds: 1 }

const progress = (text: string): void => void process.stderr.write(`${text}\n`)

/** Each server on its own filled file: all kinds of requests, the servers in turn, then the starts. */
const columnsOf = async (entries: readonly Entry[], options: Options): Promise<readonly Column[]> => {
  const folder = temporaryFolder()
  const titled = new Map<Runner, string>()
  for (const { contender, title, live } of entries) {
    progress(`filling ${title}: ${live.toLocaleString('en')} app tokens, as many grants`)
    const url = options.onPostgres ? await emptyPostgres(title) : null
    titled.set(await startRunner(contender, folder, live, url), title)
  }
  const runners = [...titled.keys()]
  const played = new Map<WorkName, ReadonlyMap<Runner, readonly Round[]>>()
  try {
    for (const work of workNames) {
      progress(`playing ${work}`)
      played.set(work, await playWork(work, runners, options))
    }
  } finally {
    for (const runner of runners) await stopRunner(runner)
  }
  progress('starting again')
  const starts = await startUps(runners, options.starts)
  rmSync(folder, { recursive: true, force: true })
  return runners.map((runner) => ({
    title: titled.get(runner) ?? '',
    runner,
    rounds: new Map([...played].map(([work, rounds]) => [work, rounds.get(runner) ?? []])),
    start: starts.get(runner) ?? { startMs: Number.NaN, executableMs: Number.NaN },
    live: runner.live,
  }))
}

const main = async (options: Options): Promise<void> => {
  const begun = performance.now()
  const { file } = await buildProgram(join(temporaryFolder(), 'app-platform'))
  const ours = platform(file)
  const { live, synchronous } = options
  const { contenders, nodeVersion } = await installPeers(synchronous)
  const glewlwyd = options.onPostgres ? null : findGlewlwyd()
  if (glewlwyd === null && !options.onPostgres)
    progress('glewlwyd is not installed (on Debian: apt-get install -y glewlwyd) and is left out')
  const peers = glewlwyd === null ? contenders : [...contenders, glewlwyd]
  const compared = [ours, ...peers].map((contender) => ({ contender, title: contender.name, live }))
  const found = environment()
  const pinning = found.pinned ? 'server and load on a core each' : 'nothing pinned'
  const comparison = table(await columnsOf(compared, options))
  const growth: Column[] = []
  for (const size of options.growth) {
    growth.push(
      ...(await columnsOf([{ contender: ours, title: size.toLocaleString('en'), live: size }], {
        ...options,
        ...growthPace,
      })),
    )
  }
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1)
  process.stdout.write(
    `${found.date}, ${found.machine}, ${found.system}, Bun ${found.bun}, Node ${nodeVersion}, ${found.generator}
${connections} connections, ${pinning}; medians of ${options.rounds} rounds of ${options.seconds} s, taking turns; ${minutes} minutes.
${
  options.onPostgres
    ? 'All on one PostgreSQL server, whose processor time is not counted.'
    : `WAL everywhere; synchronous FULL for the platform${glewlwyd === null ? '' : ' and glewlwyd'}, ${synchronous} for the other peers.`
}

${comparison}
${growth.length === 0 ? '' : `\n${table(growth)}\n`}`,
  )
}

const options = readOptions(process.argv.slice(2))
if (options === null) process.stdout.write(`${usage}\n`)
else await main(options).finally(endPostgres).finally(removeTemporaryFolders)
