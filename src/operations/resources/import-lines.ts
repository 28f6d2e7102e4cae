import { badInput } from '../decision.ts'

type ImportLine = { readonly number: number; readonly text: string }

/** A resource takes a few hundred bytes; without a bound a file without line ends would be read into memory whole. */
const longestLineBytes = 64 * 1024
const lineFeed = 10

/**
 * The lines of a stream of bytes, numbered from 1, decoded strictly; blank ones are left out.
 * @throws invalid_request naming the line, for one that is too long or not UTF-8
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
    if (rest.length > longestLineBytes) throw lineFault(number + 1, 'The line is longer than 64 KiB.')
  }
  yield* line(number + 1, rest)
}

/** The refusal of one line. */
export const lineFault = (number: number, sentence: string) => badInput('line', `line ${number}: ${sentence}`)

function* line(number: number, bytes: Uint8Array): Generator<ImportLine> {
  if (bytes.length > longestLineBytes) throw lineFault(number, 'The line is longer than 64 KiB.')
  const text = decode(number, bytes)
  if (text.trim() !== '') yield { number, text }
}

const decode = (number: number, bytes: Uint8Array): string => {
  try {
    // A mark at the beginning of a file is dropped; within one it is a broken character.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: number > 1 }).decode(bytes)
  } catch {
    throw lineFault(number, 'This is not UTF-8.')
  }
}

const joined = (first: Uint8Array, second: Uint8Array): Uint8Array =>
  first.length === 0 ? second : Buffer.concat([first, second])
