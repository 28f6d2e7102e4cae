import { cpus, release, totalmem } from 'node:os'
import type { BareFigures } from './bare.ts'
import type { DuringUploads, DuringUploadsName } from './during-uploads.ts'
import type { ReadsDuringWrites } from './during-writes.ts'
import { generator, wrk } from './load.ts'
import { markdownTable } from './markdown.ts'
import type { CaseName } from './options.ts'
import type { Round } from './phase.ts'
import { isPinned } from './processes.ts'

/** Medians over the rounds. `ratio` is raw's processor time per request divided by ours, of each round. */
export type Line = {
  readonly name: CaseName
  readonly rawRate: number
  readonly rate: number
  readonly ratio: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly residentMegabytes: number
  /** Processor time per request, which other programs on the machine change less than the rate. */
  readonly processorMicroseconds: number
  readonly rawProcessorMicroseconds: number
}

export const titles = {
  me: 'GET /me',
  check: 'GET /oauth/check',
  introspect: 'introspect',
  token: 'POST /token',
  exchange: 'code exchange',
  refresh: 'refresh',
  resources: 'GET /resources',
  installs: 'GET /installs',
} as const satisfies Record<CaseName, string>

export const lineOf = (name: CaseName, rounds: readonly Round[]): Line => ({
  name,
  rawRate: Math.round(median(rounds.map(({ raw }) => raw.rate))),
  rate: Math.round(median(rounds.map(({ ours }) => ours.rate))),
  ratio: rounded(median(rounds.map(({ raw, ours }) => raw.processorMicroseconds / ours.processorMicroseconds))),
  p50Ms: rounded(median(rounds.map(({ ours }) => ours.p50Ms))),
  p99Ms: rounded(median(rounds.map(({ ours }) => ours.p99Ms))),
  residentMegabytes: Math.round(Math.max(...rounds.map(({ residentBytes }) => residentBytes)) / 1e6),
  processorMicroseconds: rounded(median(rounds.map(({ ours }) => ours.processorMicroseconds))),
  rawProcessorMicroseconds: rounded(median(rounds.map(({ raw }) => raw.processorMicroseconds))),
})

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

const rounded = (value: number): number => Math.round(value * 100) / 100

/** A table of cases: its head, and the row of each. */
export const casesTable = (title: string) => {
  const columns = ['CPU µs', 'raw CPU µs', 'ratio', 'req/s', 'raw req/s', 'p50 ms', 'p99 ms', 'memory MB']
  const { head, row } = markdownTable([title, ...columns])
  return {
    head,
    row: (line: Line): string =>
      row([
        titles[line.name],
        line.processorMicroseconds.toFixed(1),
        line.rawProcessorMicroseconds.toFixed(1),
        line.ratio.toFixed(2),
        line.rate.toLocaleString('en'),
        line.rawRate.toLocaleString('en'),
        line.p50Ms.toFixed(2),
        line.p99Ms.toFixed(2),
        String(line.residentMegabytes),
      ]),
  }
}

/** How much the ratio of each case changed from the small file to the large one. */
export const changeLine = (small: readonly Line[], large: readonly Line[]): string => {
  const changes = large.flatMap(({ name, ratio }) => {
    const before = small.find((line) => line.name === name)
    return before === undefined ? [] : [`${titles[name]} ${signed(ratio / before.ratio - 1)}`]
  })
  return `\nRatios, compared with those of the small file: ${changes.join(', ')}.`
}

const signed = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(0)} %`

export const readsSummaryOf = (rounds: readonly ReadsDuringWrites[]) => ({
  alone: Math.round(median(rounds.map(({ alone }) => alone))),
  during: Math.round(median(rounds.map(({ during }) => during))),
  share: rounded(median(rounds.map(({ alone, during }) => during / alone))),
  p99Ms: rounded(median(rounds.map(({ duringP99Ms }) => duringP99Ms))),
  writes: Math.round(median(rounds.map(({ writes }) => writes))),
})

export const readsTable = ({ alone, during, share, p99Ms, writes }: ReturnType<typeof readsSummaryOf>): string => {
  const columns = ['req/s alone', 'POST /token/s', 'req/s during them', 'share', 'p99 ms during them']
  const { head, row } = markdownTable(['Reads during writes on the slow disk', ...columns])
  const [rateAlone = '', rateOfWrites = '', rateDuring = ''] = [alone, writes, during].map((rate) =>
    rate.toLocaleString('en'),
  )
  return `${head}\n${row([titles.me, rateAlone, rateOfWrites, rateDuring, share.toFixed(2), p99Ms.toFixed(2)])}`
}

/** Medians over the rounds, and the most memory; the ratios are medians of each round's own. */
export const uploadSummaryOf = (name: DuringUploadsName, rounds: readonly DuringUploads[]) => ({
  name,
  aloneP99Ms: rounded(median(rounds.map(({ alone }) => alone.p99Ms))),
  duringP99Ms: rounded(median(rounds.map(({ during }) => during.p99Ms))),
  p99Ratio: rounded(median(rounds.map(({ alone, during }) => during.p99Ms / alone.p99Ms))),
  aloneRate: Math.round(median(rounds.map(({ alone }) => alone.rate))),
  rateRatio: rounded(median(rounds.map(({ alone, during }) => during.rate / alone.rate))),
  uploadsPerSecond: rounded(median(rounds.map(({ uploadsPerSecond }) => uploadsPerSecond))),
  residentMegabytes: Math.round(Math.max(...rounds.map(({ residentBytes }) => residentBytes)) / 1e6),
})

export const uploadsTable = () => {
  const { head, row } = markdownTable([
    'During uploads of 10 MiB, back to back',
    'uploads/s',
    'p99 ms alone',
    'p99 ms',
    'ratio',
    'req/s alone',
    'share of req/s',
    'memory MB',
  ])
  return {
    head,
    row: (line: ReturnType<typeof uploadSummaryOf>): string =>
      row([
        titles[line.name],
        line.uploadsPerSecond.toFixed(1),
        line.aloneP99Ms.toFixed(2),
        line.duringP99Ms.toFixed(2),
        line.p99Ratio.toFixed(2),
        line.aloneRate.toLocaleString('en'),
        line.rateRatio.toFixed(2),
        String(line.residentMegabytes),
      ]),
  }
}

export const bareTable = (figures: readonly BareFigures[]): string => {
  const columns = ['raw CPU µs', 'bare CPU µs', 'CPU µs', 'bare req/s of raw', 'req/s of raw']
  const { head, row } = markdownTable(['The same duties in the shortest code (bare)', ...columns])
  const rows = figures.map(({ name, rawMicroseconds, bareMicroseconds, microseconds, bareRatio, ratio }) =>
    row([
      titles[name],
      rawMicroseconds.toFixed(1),
      bareMicroseconds.toFixed(1),
      microseconds.toFixed(1),
      bareRatio.toFixed(2),
      ratio.toFixed(2),
    ]),
  )
  return [head, ...rows].join('\n')
}

export const environment = () => ({
  date: new Date().toISOString(),
  machine: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
  system: `${process.platform} ${release()}`,
  bun: Bun.version,
  generator: wrk === null ? generator : `wrk ${wrkVersion(wrk)}`,
  pinned: isPinned,
})

const wrkVersion = (program: string): string =>
  /wrk (?:debian\/)?(\S+)/.exec(Bun.spawnSync([program, '--version']).stdout.toString())?.[1] ?? 'unknown'
