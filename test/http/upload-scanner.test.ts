import { expect, spyOn, test } from 'bun:test'
import {
  array,
  assert,
  base64String,
  boolean,
  constantFrom,
  dictionary,
  integer,
  jsonValue,
  letrec,
  nat,
  oneof,
  pre,
  property,
  string,
  uint8Array,
} from 'fast-check'
import { parseStrictBytes } from '../../src/http/strict-body.ts'
import { anyText } from '../support/any-text.ts'
import { type ScannedUpload, UploadScanner } from '../../src/http/upload-scanner.ts'

/** Scans the bytes split at these places, as a network could split them. */
const scan = (bytes: Uint8Array, cuts: readonly number[] = []): ScannedUpload => {
  const scanner = new UploadScanner()
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  for (const [index, place] of places.entries()) scanner.take(bytes.subarray(places[index - 1] ?? 0, place))
  return scanner.finish()
}
const bytesOf = (text: string) => new TextEncoder().encode(text)
const scanText = (text: string, cuts: readonly number[] = []) => scan(bytesOf(text), cuts)

const contentOf = ({ file }: ScannedUpload): string | null =>
  file?.artifact == null ? null : Buffer.concat(file.artifact.pieces).toString('base64')

const valueOf = (parse: () => unknown): unknown => {
  try {
    return { value: parse() }
  } catch {
    return 'refused'
  }
}
const cuts = array(nat(2000), { maxLength: 8 })
/** JSON as different encoders write it: with spaces, and with the slash escaped. */
const written = (value: unknown, spaces: number, escaped: boolean): string => {
  const text = JSON.stringify(value, null, spaces)
  return escaped ? text.replaceAll('/', '\\/') : text
}

test('the file is taken out of an upload, however the network splits it and however the JSON is spaced; the rest is unchanged', () => {
  assert(
    property(
      uint8Array({ maxLength: 600 }),
      dictionary(string(), jsonValue({ maxDepth: 3 })),
      jsonValue({ maxDepth: 2 }),
      cuts,
      nat(3),
      boolean(),
      (bytes, around, beside, places, spaces, escaped) => {
        const contentBase64 = Buffer.from(bytes).toString('base64')
        const upload = { ...around, artifact: { beside, contentBase64, after: { contentBase64: 'kept' } } }
        const scanned = scanText(written(upload, spaces, escaped), places)
        expect(contentOf(scanned)).toBe(contentBase64)
        const emptied = { ...upload, artifact: { ...upload.artifact, contentBase64: '' } }
        expect(JSON.parse(Buffer.from(scanned.json).toString())).toEqual(JSON.parse(JSON.stringify(emptied)))
      },
    ),
    { numRuns: 300 },
  )
})

test('the file is found behind any white space that JSON may have', () => {
  for (const space of [' ', '\n', '\r', '\t', '\r\n\t ']) {
    const text = ['{', '"artifact"', ':', '{', '"contentBase64"', ':', '"QUFB"', '}', '}'].join(space)
    expect([space, contentOf(scanText(text))]).toEqual([space, 'QUFB'])
  }
})

test('an upload without a file keeps every byte', () => {
  const path = constantFrom('artifact', 'contentBase64', 'filename', 'a"b\\', 'artifact"')
  const { tree } = letrec((tie) => ({
    tree: oneof(
      { depthSize: 'small' },
      string(),
      integer(),
      dictionary(path, tie('tree')),
      array(tie('tree'), { maxLength: 3 }),
    ),
  }))
  assert(
    property(tree, cuts, (value, places) => {
      const text = JSON.stringify(value)
      pre(!/"artifact":\{[^]*"contentBase64":"/.test(text))
      const scanned = scanText(text, places)
      expect([Buffer.from(scanned.json).toString(), scanned.file]).toEqual([text, null])
    }),
    { numRuns: 300 },
  )
})

test('a file that is not base64 stays in the JSON', () => {
  const junk = oneof(anyText, string(), constantFrom('a-_b', 'aGk', 'aG k', '\u0000', 'é'))
  assert(
    property(
      base64String({ maxLength: 40 }),
      junk,
      base64String({ maxLength: 40 }),
      cuts,
      (before, wrong, after, places) => {
        const contentBase64 = before.replaceAll('=', '') + wrong + after
        pre(Buffer.from(contentBase64, 'base64').toString('base64') !== contentBase64)
        const text = JSON.stringify({ artifact: { contentBase64 } })
        const scanned = scanText(text, places)
        expect(scanned.file).toEqual({ artifact: null })
        const whole = valueOf(() => parseStrictBytes(new TextEncoder().encode(text)))
        const rest = valueOf(() => parseStrictBytes(scanned.json))
        expect(rest === 'refused').toBe(whole === 'refused')
      },
    ),
    { numRuns: 200 },
  )
})

test('however the network splits it, padding ends the file and an escaped backslash is not base64', () => {
  for (const [inside, isFile] of [
    ['aGVsbG8=', true],
    ['aGVsbG8=aGVsbG8=', false],
    ['aGVsbG8=AAAA', false],
    [String.raw`AA\/\/`, true],
    [String.raw`AAAA\\\/A`, false],
    [String.raw`AAAA\\/AAA`, false],
    [String.raw`AAA\"`, false],
  ] as const) {
    const text = `{"artifact":{"contentBase64":"${inside}"}}`
    for (let first = 0; first < text.length; first += 1) {
      for (let second = first; second < text.length; second += 1) {
        const { file } = scanText(text, [first, second])
        expect({ inside, first, second, isFile: file?.artifact != null }).toEqual({ inside, first, second, isFile })
      }
    }
  }
})

test('the JSON of an upload with one byte changed is valid without its file if and only if it was valid with it', () => {
  const contentBase64 = Buffer.alloc(100, 'file').toString('base64')
  const bytes = new TextEncoder().encode(
    JSON.stringify({ version: '1.0.0', artifact: { contentBase64, filename: 'a' } }),
  )
  assert(
    property(nat(bytes.length - 1), nat(255), cuts, (at, value, places) => {
      const changed = bytes.slice()
      changed[at] = value
      const whole = valueOf(() => parseStrictBytes(changed))
      const scanned = scan(changed, places)
      const rest = valueOf(() => parseStrictBytes(scanned.json))
      expect(rest === 'refused').toBe(whole === 'refused')
    }),
    { numRuns: 2000 },
  )
})

test('a second file is invalid JSON, as any repeated key', () => {
  for (const text of [
    '{"artifact":{"contentBase64":"aGk=","contentBase64":"aGk="}}',
    '{"artifact":{"contentBase64":"aGk="},"artifact":{"contentBase64":"aGk="}}',
    '{"artifact":{"contentBase64":"aGk=","content\\u0042ase64":"aGk="}}',
  ]) {
    expect(valueOf(() => parseStrictBytes(scanText(text).json))).toBe('refused')
  }
})

test('a file of more than 10 MiB is refused before all of it has arrived', () => {
  const scanner = new UploadScanner()
  scanner.take(Buffer.from('{"artifact":{"contentBase64":"'))
  const step = Buffer.alloc(128 * 1024, 'A')
  const takeAll = () => {
    for (let taken = 0; taken < 15 * 1024 * 1024; taken += step.length) scanner.take(step)
  }
  expect(takeAll).toThrow('The request body is too large.')
})

test('after invalid base64, nothing more is decoded', () => {
  const scanner = new UploadScanner()
  const decode = spyOn(Uint8Array, 'fromBase64')
  scanner.take(bytesOf('{"artifact":{"contentBase64":"QUFB!QUFB'))
  const before = decode.mock.calls.length
  for (let piece = 0; piece < 3; piece += 1) scanner.take(bytesOf('QUFBQUFB'))
  scanner.take(bytesOf('"}}'))
  expect([before, decode.mock.calls.length]).toEqual([1, 1])
  decode.mockRestore()
  expect(scanner.finish().file).toEqual({ artifact: null })
})
