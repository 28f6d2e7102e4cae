import { cpus, release, totalmem } from 'node:os'
import type { BareFigures } from './bare.ts'
import type { BesideName, BesideUploads } from './beside-uploads.ts'
import type { ReadsBesideWrites } from './beside-writes.ts'
import { generator, wrk } from './load.ts'
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
  introspect: 'introspect',
  token: 'POST /token',
  exchange: 'code exchange',
  refresh: 'refresh',
  resources: 'GET /resources',
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

const columns = [16, 9, 9, 8, 10, 11, 9, 9, 11] as const
const row = (cells: readonly string[]): string =>
  cells.map((cell, index) => (index === 0 ? cell.padEnd(columns[0]) : cell.padStart(columns[index] ?? 10))).join('')

export const tableHead = (title: string): string =>
  `\n${title}\n${row(['', 'CPU µs', 'raw µs', 'ratio', 'req/s', 'raw req/s', 'p50 ms', 'p99 ms', 'memory MB'])}`

export const tableLine = (line: Line): string =>
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
  ])

/** How the ratios changed from the small file to the large one. */
export const changeLine = (small: readonly Line[], large: readonly Line[]): string => {
  const changes = large.flatMap(({ name, ratio }) => {
    const before = small.find((line) => line.name === name)
    return before === undefined ? [] : [`${titles[name]} ${signed(ratio / before.ratio - 1)}`]
  })
  return `ratios against the small file: ${changes.join(', ')}`
}

const signed = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(0)} %`

export const summaryOf = (rounds: readonly ReadsBesideWrites[]) => ({
  alone: Math.round(median(rounds.map(({ alone }) => alone))),
  beside: Math.round(median(rounds.map(({ beside }) => beside))),
  share: rounded(median(rounds.map(({ alone, beside }) => beside / alone))),
  p99Ms: rounded(median(rounds.map(({ besideP99Ms }) => besideP99Ms))),
  writes: Math.round(median(rounds.map(({ writes }) => writes))),
})

export const besideLine = ({ alone, beside, share, p99Ms, writes }: ReturnType<typeof summaryOf>): string =>
  `GET /me alone ${alone.toLocaleString('en')} req/s, beside ${writes.toLocaleString('en')} POST /token per second ` +
  `${beside.toLocaleString('en')} req/s: ${share.toFixed(2)} of its speed, p99 ${p99Ms.toFixed(2)} ms`

/** Medians over the rounds, but for the memory; the ratios are medians of each round's own. */
export const uploadSummaryOf = (name: BesideName, rounds: readonly BesideUploads[]) => ({
  name,
  aloneP99Ms: rounded(median(rounds.map(({ alone }) => alone.p99Ms))),
  besideP99Ms: rounded(median(rounds.map(({ beside }) => beside.p99Ms))),
  p99Ratio: rounded(median(rounds.map(({ alone, beside }) => beside.p99Ms / alone.p99Ms))),
  aloneRate: Math.round(median(rounds.map(({ alone }) => alone.rate))),
  rateRatio: rounded(median(rounds.map(({ alone, beside }) => beside.rate / alone.rate))),
  uploadsPerSecond: rounded(median(rounds.map(({ uploadsPerSecond }) => uploadsPerSecond))),
  residentMegabytes: Math.round(Math.max(...rounds.map(({ residentBytes }) => residentBytes)) / 1e6),
})

export const uploadLine = (line: ReturnType<typeof uploadSummaryOf>): string =>
  `${titles[line.name].padEnd(columns[0])}p99 alone ${line.aloneP99Ms.toFixed(2)} ms, beside ${line.uploadsPerSecond.toFixed(1)} uploads/s ` +
  `${line.besideP99Ms.toFixed(2)} ms: ${line.p99Ratio.toFixed(2)} of it; ${line.rateRatio.toFixed(2)} of its ` +
  `${line.aloneRate.toLocaleString('en')} req/s; ${line.residentMegabytes} MB resident`

export const bareLine = (figures: BareFigures): string =>
  `${titles[figures.name].padEnd(columns[0])}bare ${figures.bareRatio.toFixed(2)} of raw, ours ${figures.ratio.toFixed(2)}; processor time ` +
  `raw ${figures.rawMicroseconds.toFixed(1)} µs, bare ${figures.bareMicroseconds.toFixed(1)} µs, ours ${figures.microseconds.toFixed(1)} µs`

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
