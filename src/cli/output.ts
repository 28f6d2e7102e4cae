import { wireRecord } from '../domain/timestamp.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a command prints: one JSON value, or text for people. */
export type Answer = {
  readonly value: Fields
  /** For a terminal of this width; null if the output goes to a file or a program. */
  readonly text: string | ((width: number | null) => string)
  /** What the command was done despite of, without `warning:`. */
  readonly warnings?: readonly string[]
}

/** The lines of an answer on stdout. */
export const answerLines = (
  { json }: { readonly json?: boolean },
  { value, text }: Answer,
  width: number | null,
): string =>
  json === true ? `${printableJson(value)}\n` : `${printableLines(typeof text === 'string' ? text : text(width))}\n`

/** The lines of its warnings on stderr. */
export const warningLines = (warnings: readonly string[]): string =>
  warnings.map((warning) => `warning: ${printable(warning)}\n`).join('')

/** Prints the answer of a command. Nothing else writes to stdout. */
export const answer = (flags: { readonly json?: boolean }, given: Answer): void => {
  const { warnings = [] } = given
  if (warnings.length > 0) process.stderr.write(warningLines(warnings))
  process.stdout.write(answerLines(flags, given, terminalWidth()))
}

type Failure = { readonly code: string; readonly sentences: readonly string[]; readonly requestId: string | null }

/** Why a command failed as its one JSON value (contract section 7). People read the same on stderr. */
export const failureLine = ({ code, sentences, requestId }: Failure): string => {
  const error = { code, message: sentences.join(' '), ...(requestId === null ? {} : { requestId }) }
  return answerLines({ json: true }, { value: { error }, text: '' }, null)
}

/** The answer that is a record, with sentences that say what to do next. */
export const recordAnswer = (record: Fields, advice?: readonly string[]) => {
  const value = wireRecord(record)
  const text = recordText(value)
  return advice === undefined ? { value, text } : { value: { ...value, advice }, text: [text, ...advice].join('\n') }
}

/** The columns of a table: title and field. `clientIds.development` is a nested field. */
type Columns = Readonly<Record<string, string>>

export const listAnswer = (records: readonly Fields[], columns: Columns): Answer => {
  const data = records.map(wireRecord)
  return { value: { data }, text: data.length === 0 ? 'None.' : (width) => tableText(data, columns, width) }
}

type Ended = Readonly<Record<'appTokens' | 'grants' | 'sessions' | 'embeddedSessions', number>>

export const endedText = ({ appTokens, grants, sessions, embeddedSessions }: Ended): string =>
  `app tokens ${appTokens}, grants ${grants}, sessions ${sessions}, embedded sessions ${embeddedSessions}`

/** One field per line. A nested field has the names of both. */
export const recordText = (record: Fields): string => {
  const lines = fieldsOf(record, '')
  const width = Math.max(...lines.map(([name]) => name.length))
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

const fieldsOf = (record: Fields, prefix: string): readonly (readonly [name: string, value: string])[] =>
  Object.entries(record).flatMap(([name, value]) =>
    isPlainObject(value) && Object.keys(value).length > 0
      ? fieldsOf(value, `${prefix}${name}.`)
      : [[printable(`${prefix}${name}`), cellText(value)] as const],
  )

const isPlainObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The width of the terminal; null if the output goes to a file or a program, which get each row on one line. */
export const terminalWidth = (): number | null =>
  process.stdout.isTTY && process.stdout.columns > 0 ? process.stdout.columns : null

const gap = 2
const cellWidth = (cell: string): number => Bun.stringWidth(cell)
const total = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + gap, -gap)
const widest = (cells: readonly string[]): number => Math.max(0, ...cells.map(cellWidth))

/**
 * A table that fits the terminal. Where rows are too long, cells continue on the next line; where even their longest words are, as
 * with secrets, each record is a block of lines. Nothing is cut off, because people copy IDs from here.
 */
export const tableText = (records: readonly Fields[], columns: Columns, most = terminalWidth()): string => {
  const head = Object.keys(columns).map((title) => title.toUpperCase())
  const paths = Object.values(columns)
  const rows = [head, ...records.map((record) => paths.map((path) => cellText(valueAt(record, path))))]
  const columnsOf = (cellsOf: (cell: string) => readonly string[]) =>
    head.map((_, index) => Math.max(...rows.map((row) => widest(cellsOf(row[index] ?? '')))))
  const whole = columnsOf((cell) => [cell])
  if (most === null || total(whole) <= most) return linesOf(rows, whole)
  const least = columnsOf(wordsOf)
  if (total(least) > most) {
    return records
      .map((record) =>
        recordText(Object.fromEntries(Object.entries(columns).map(([title, path]) => [title, valueAt(record, path)]))),
      )
      .join('\n\n')
  }
  const widths = [...whole]
  while (total(widths) > most) {
    const slack = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0))
    const longest = slack.indexOf(Math.max(...slack))
    widths[longest] = (widths[longest] ?? 0) - 1
  }
  return linesOf(rows, widths)
}

/** In a cell of several lines, a time is two words. */
const wordsOf = (cell: string): readonly string[] =>
  cell.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z$/, '$1 $2Z').split(' ')

const linesOf = (rows: readonly (readonly string[])[], widths: readonly number[]): string =>
  rows
    .flatMap((row) => {
      const cells = row.map((cell, index) => wrapped(cell, widths[index] ?? 0))
      const height = Math.max(...cells.map(({ length }) => length))
      return Array.from({ length: height }, (_, at) =>
        cells
          .map((lines, index) => {
            const text = lines[at] ?? ''
            return text + ' '.repeat((widths[index] ?? 0) - cellWidth(text))
          })
          .join(' '.repeat(gap))
          .trimEnd(),
      )
    })
    .join('\n')

/** The cell in lines that are not longer than the width, broken between words. */
const wrapped = (cell: string, width: number): readonly string[] => {
  if (cellWidth(cell) <= width) return [cell]
  const lines: string[] = []
  for (const word of wordsOf(cell)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && cellWidth(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

const valueAt = (record: Fields, path: string): unknown => {
  let value: unknown = record
  for (const name of path.split('.')) value = isPlainObject(value) ? value[name] : undefined
  return value
}

const cellText = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cellText).join(' ')
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** Text from others must not move the cursor, change colours or reverse the reading direction. */
export const printable = (text: string): string => text.replaceAll(unprintable, '\ufffd')

const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** The same for a text of several lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n')

/** The very value, for programs; on a terminal it does nothing either. */
const printableJson = (value: Fields): string =>
  JSON.stringify(value).replaceAll(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** The command could not do its work, or found something wrong. One sentence per line, exit code 1. */
export class CommandFailed extends Error {
  constructor(readonly sentences: readonly string[]) {
    super(sentences.join(' '))
  }
}

/** The command line is wrong; the message says how to write it. Exit code 2. */
export class UsageError extends Error {}
