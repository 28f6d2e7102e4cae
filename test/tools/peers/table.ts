import { markdownTable } from '../../bench/markdown.ts'
import { median } from '../../bench/report.ts'
import type { Round, Runner } from './rounds.ts'
import type { StartUp } from './start-up.ts'
import { titles, type WorkName, workNames } from './work.ts'

/** A column: a server with its file. */
export type Column = {
  readonly title: string
  readonly runner: Runner
  readonly rounds: ReadonlyMap<WorkName, readonly Round[]>
  readonly start: StartUp
  readonly live: number
}

/** One Markdown table with a column for each server. */
export const table = (columns: readonly Column[]): string => {
  const { head, row } = markdownTable(['', ...columns.map(({ title }) => title)])
  const line = (title: string, cell: (column: Column) => string) => row([title, ...columns.map(cell)])
  const byWork = workNames.flatMap((work) => {
    const of = (column: Column, pick: (round: Round) => number) => medianOf(column, work, pick)
    return [
      line(`${titles[work]}, req/s`, (column) => whole(of(column, ({ rate }) => rate))),
      line('… p50 / p99 ms', (column) =>
        [of(column, ({ p50Ms }) => p50Ms), of(column, ({ p99Ms }) => p99Ms)].map((ms) => ms.toFixed(1)).join(' / '),
      ),
      line('… processor µs each', (column) => whole(of(column, (round) => round.processorMicroseconds))),
    ]
  })
  return [
    head.trim(),
    ...byWork,
    line(
      'memory idle / most under load, MB',
      (column) => `${megabytes(column.runner.idleBytes)} / ${megabytes(most(column))}`,
    ),
    line('disk per live app token, bytes', (column) => whole(medianOf(column, 'token', ({ diskBytes }) => diskBytes))),
    line('disk per grant exchanged, bytes', (column) =>
      whole(medianOf(column, 'exchange', ({ diskBytes }) => diskBytes)),
    ),
    line('disk per refresh, bytes', (column) => whole(medianOf(column, 'refresh', ({ diskBytes }) => diskBytes))),
    line('file once filled, MB', ({ runner }) => megabytes(runner.filledBytes)),
    line('app tokens and grants in it, each', ({ live }) => whole(live)),
    line('start to first answer, ms', ({ start }) => whole(start.startMs)),
    line('… as one executable file, ms', ({ start }) => whole(start.executableMs)),
    line('tokens on disk', ({ runner }) => runner.contender.keepsTokensAs),
  ].join('\n')
}

const medianOf = ({ rounds }: Column, work: WorkName, pick: (round: Round) => number): number =>
  median((rounds.get(work) ?? []).map(pick))

const most = ({ rounds }: Column): number =>
  Math.max(...[...rounds.values()].flat().map(({ residentBytes }) => residentBytes))

/** A dash where no round was long enough for an answer. */
const whole = (value: number): string => (Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '—')
const megabytes = (bytes: number): string => whole(bytes / 1e6)
