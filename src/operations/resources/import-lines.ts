import { type PlatformError, refuse } from '../../domain/errors.ts'

/** A line that is wrong, and why. */
export type LineFault = { readonly line: number; readonly message: string }
export const lineFault = (line: number, message: string): LineFault => ({ line, message })
/** So many wrong lines are told. */
export const mostFaults = 20

/** The refusal of a file with these faults, the first of them in words. */
export const wrongLines = (faults: readonly LineFault[]): PlatformError => {
  const told = faults.toSorted((one, other) => one.line - other.line).slice(0, mostFaults)
  const [first, ...others] = told
  const also = others.length === 0 ? '' : ` ${others.length} more: line ${others.map(({ line }) => line).join(', ')}.`
  const message = first === undefined ? 'The file is wrong.' : `Line ${first.line}: ${first.message}${also}`
  return refuse('invalid_request', { param: 'line', message, details: { lines: told } })
}

type ImportLine =
  | { readonly kind: 'line'; readonly number: number; readonly text: string }
  | { readonly kind: 'fault'; readonly number: number; readonly message: string }

/** A line takes a few hundred bytes. The bound keeps a file without line ends from being read into memory whole. */
const longestLineBytes = 64 * 1024
const lineFeed = 10

/**
 * The lines of a byte stream, numbered from 1. Blank lines are skipped. A line that is too long or not UTF-8 is a fault, and
 * nothing follows one that is too long.
 */
export async function* importLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ImportLine> {
  let number = 0
  let rest: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      number += 1
      yield* line(number, joined(rest, chunk.subarray(start, end)))
      rest = new Uint8Array()
      start = end + 1
    }
    rest = joined(rest, chunk.subarray(start))
    if (rest.length > longestLineBytes) return yield tooLong(number + 1)
  }
  yield* line(number + 1, rest)
}

const tooLong = (number: number): ImportLine => ({ kind: 'fault', number, message: 'The line is longer than 64 KiB.' })

function* line(number: number, bytes: Uint8Array): Generator<ImportLine> {
  if (bytes.length > longestLineBytes) return yield tooLong(number)
  const text = decoded(number, bytes)
  if (text === null) yield { kind: 'fault', number, message: 'This is not UTF-8.' }
  else if (text.trim() !== '') yield { kind: 'line', number, text }
}

/** A byte order mark is dropped at the start of the file and kept, and so refused, elsewhere. */
const firstDecoder = new TextDecoder('utf-8', { fatal: true })
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decoded = (number: number, bytes: Uint8Array): string | null => {
  try {
    return (number === 1 ? firstDecoder : decoder).decode(bytes)
  } catch {
    return null
  }
}

const joined = (first: Uint8Array, second: Uint8Array): Uint8Array =>
  first.length === 0 ? second : Buffer.concat([first, second])
