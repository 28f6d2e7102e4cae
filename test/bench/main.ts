import { temporaryFolder } from '../support/temporary-folder.ts'
import { playAgainst, playOnPostgres } from './against.ts'
import { bareFigures } from './bare.ts'
import { behindProxy, proxyNames } from './behind-proxy.ts'
import { duringUploads, duringUploadsNames } from './during-uploads.ts'
import { readsDuringWrites } from './during-writes.ts'
import { type Options, readOptions, usage } from './options.ts'
import { connections, onStage, playCase, type Stage } from './phase.ts'
import {
  bareTable,
  casesTable,
  changeLine,
  environment,
  type Line,
  lineOf,
  readsSummaryOf,
  readsTable,
  uploadsTable,
  uploadSummaryOf,
} from './report.ts'
import { favourSession } from './processes.ts'
import { slowDisk } from './slow-disk.ts'
import { startFigures, startTable } from './start.ts'

const few = 1_000

const main = async (options: Options): Promise<void> => {
  const say = (text: string) => void (options.json ? process.stderr : process.stdout).write(`${text}\n`)
  const folder = temporaryFolder()
  const found = environment()
  say(`${found.date}  ${found.machine}, ${found.system}, Bun ${found.bun}, ${found.generator}`)
  const pinning = found.pinned ? 'server and load on a core each' : 'nothing pinned'
  favourSession()
  say(`${connections} connections, ${pinning}, ${options.rounds} rounds of ${options.seconds} s, medians`)

  if (options.against !== null || options.database !== null) {
    const lines =
      options.against === null
        ? await playOnPostgres(options.database ?? '', folder, options, say)
        : await playAgainst(options.against, folder, options, say)
    if (options.json) process.stdout.write(`${JSON.stringify({ ...found, options, lines }, null, 2)}\n`)
    return
  }

  const table = async (title: string, stage: Stage): Promise<readonly Line[]> => {
    if (options.cases.length === 0) return []
    const { head, row } = casesTable(title)
    say(head)
    const lines: Line[] = []
    for (const name of options.cases) {
      const line = lineOf(name, await playCase(stage, name, options))
      lines.push(line)
      say(row(line))
    }
    return lines
  }
  const during = async (stage: Stage) => {
    const { head, row } = uploadsTable()
    say(head)
    const lines = []
    for (const name of duringUploadsNames) {
      const line = uploadSummaryOf(name, await duringUploads(stage, name, options))
      lines.push(line)
      say(row(line))
    }
    return lines
  }
  const bare = async (stage: Stage) => {
    const figures = await bareFigures(stage, options)
    say(bareTable(figures))
    return figures
  }
  const at = async (live: number) =>
    await onStage(folder, live, {}, async (stage) => {
      return await table(`${live.toLocaleString('en')} live tokens of each kind`, stage)
    })

  const start = options.phases.includes('start') ? await startFigures(folder) : null
  if (start !== null) say(startTable(start))
  const small = options.phases.includes('small') ? await at(few) : []
  const uploads = options.upload && options.phases.includes('small') ? await onStage(folder, few, {}, during) : null
  const duties = options.phases.includes('bare') ? await onStage(folder, few, {}, bare) : null
  const behind: Record<string, readonly Line[] | null> = {}
  for (const name of proxyNames.filter((proxy) => options.phases.includes(proxy) && options.cases.length > 0)) {
    behind[name] = await onStage(folder, few, { TRUSTED_PROXIES: '127.0.0.1' }, async (stage) => {
      return await behindProxy(
        name,
        stage,
        async (proxied) => await table(`Behind ${name}, which shares the core of the load`, proxied),
      )
    })
    if (behind[name] === null) say(`\n${name} is not installed.`)
  }
  const large = options.phases.includes('large') && options.cases.length > 0 ? await at(options.many) : []
  if (small.length > 0 && large.length > 0) say(changeLine(small, large))

  const slow = options.phases.includes('slow-disk') ? await slowDisk(folder) : null
  if (slow === null && options.phases.includes('slow-disk'))
    say('\nThe slow disk is left out: it needs Linux and a C compiler.')
  const onSlowDisk =
    slow === null
      ? null
      : await onStage(folder, few, slow, async (stage) => {
          const lines = await table('Every sync 1 ms slower', stage)
          const reads = readsSummaryOf(await readsDuringWrites(stage, options))
          say(readsTable(reads))
          return { lines, reads }
        })
  const result = { ...found, options, start, small, uploads, bare: duties, behind, large, slowDisk: onSlowDisk }
  if (options.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
}

const options = readOptions(process.argv.slice(2))
if (options === null) process.stdout.write(`${usage}\n`)
else await main(options)
