import { describe, expect, test } from 'bun:test'
import { anything, assert, constantFrom, dictionary, json, jsonValue, property, string, tuple } from 'fast-check'
import { PlatformError } from '../../src/domain/errors.ts'
import { parseStrictJson } from '../../src/domain/strict-json.ts'
import { readForm, readJson } from '../../src/http/strict-body.ts'
import { refusalOf } from '../operations/support/owner.ts'
import { callWith } from './support/door.ts'

const limit = 1_000 // set by `callWith`

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream

const post = (body: Body): Request => new Request('http://localhost/', { method: 'POST', body })
const bytes = (...parts: readonly (string | number)[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(typeof part === 'string' ? part : [part]))))

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

const codeOf = async (body: Body): Promise<string> => {
  try {
    await readJson(callWith(post(body)))
    return 'read'
  } catch (error) {
    return error instanceof PlatformError ? error.code : 'crashed'
  }
}

const refuses = (text: string): boolean => {
  try {
    parseStrictJson(text)
    return false
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'invalid_json') return true
    throw error
  }
}

/** A body without a length, in pieces, and the number of pieces that were read. */
const chunked = (pieces: number, piece: Uint8Array<ArrayBuffer>) => {
  const sent = { pieces: 0 }
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      if (sent.pieces === pieces) return controller.close()
      sent.pieces += 1
      return controller.enqueue(piece)
    },
  })
  return { body, sent }
}

describe('a body is read', () => {
  test('as JSON', async () => {
    const value = { a: [1, -2.5e3, true, false, null, 'x'], 'b"\\': { 'ü😀': 'é\n' }, '': [] }
    expect(await readJson(callWith(post(JSON.stringify(value))))).toEqual(value)
  })

  test('up to its limit and not a byte beyond it', async () => {
    expect(await codeOf(`"${'x'.repeat(limit - 2)}"`)).toBe('read')
    expect(await codeOf(`"${'x'.repeat(limit - 1)}"`)).toBe('payload_too_large')
  })

  test('up to its limit, whatever length was announced', async () => {
    for (const [said, body] of [
      [limit + 1, '1'],
      [1, `"${'x'.repeat(limit)}"`],
    ] as const) {
      const request = new Request(post(body), { headers: { 'Content-Length': String(said) } })
      expect(await refusalOf(readJson(callWith(request)))).toBe('payload_too_large')
    }
  })

  test('without a length only as far as the limit', async () => {
    const endless = chunked(1_000_000, bytes('x'.repeat(100)))
    expect(await codeOf(endless.body)).toBe('payload_too_large')
    expect(endless.sent.pieces).toBeLessThan(20)
  })

  test('without a length, whole', async () => {
    const { body } = chunked(5, bytes('  '))
    const joined = new ReadableStream({
      async start(controller) {
        controller.enqueue(bytes('{"a":"'))
        for await (const piece of body) controller.enqueue(piece)
        controller.enqueue(bytes('"}'))
        controller.close()
      },
    })
    expect(await readJson(callWith(post(joined)))).toEqual({ a: ' '.repeat(10) })
  })

  test('never if it is empty', async () => {
    expect(await codeOf('')).toBe('invalid_json')
    expect(await codeOf(' \n')).toBe('invalid_json')
    expect(await codeOf(chunked(0, bytes()).body)).toBe('invalid_json')
  })

  test.each([
    ['a byte that is no UTF-8', bytes('"', 0xff, '"')],
    ['a letter cut short', bytes('"', 0xc3, '"')],
    ['an overlong letter', bytes('"', 0xc0, 0xaf, '"')],
    ['a surrogate in UTF-8', bytes('"', 0xed, 0xa0, 0x80, '"')],
    ['a byte order mark', bytes(0xef, 0xbb, 0xbf, '{}')],
    ['UTF-16', new Uint8Array(new Uint16Array([0x7b, 0x7d]).buffer)],
    ['a raw NUL', bytes('"', 0, '"')],
    ['a raw line break in a string', bytes('"\n"')],
  ])('never if it contains %s', async (_, body) => {
    expect(await codeOf(body)).toBe('invalid_json')
  })
})

describe('JSON is refused', () => {
  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '[{"b":{"a":1,"c":2,"a":3}}]',
    '{"":1,"":2}',
    '{"a":{},"b":1,"a":{"x":1}}',
    '{"__proto__":1}',
    '[[{"a":{"__proto__":{}}}]]',
    '{"__proto\\u005f_":1}',
    '"\\u0000"',
    '{"\\u0000":1}',
    '["\\ud800"]',
    '"\\udc00"',
    '{"\\ud83d":1}',
    '"\\ud83d\\ud83d\\ude00"',
    '1e999',
    '[-1e999]',
    '{"a":1,}',
    "{'a':1}",
    '{a:1}',
    '[1,]',
    '[1 2]',
    '01',
    '+1',
    '.5',
    'NaN',
    'undefined',
    '{} {}',
    '{"a":1',
    '"a',
    '"\\',
    '"\\"',
    '\\',
    '[}',
    '{]',
    ':',
    '//\n1',
    '{"a"::1}',
    '{:}',
    '{"a":1}:',
    '\u00a01',
  ])('%p', (text) => {
    expect(refuses(text)).toBe(true)
  })

  test('beyond 32 levels, before it reaches the parser', () => {
    expect(refuses(nested(32))).toBe(false)
    expect(refuses(nested(33))).toBe(true)
    expect(refuses('{"a":'.repeat(33) + '1' + '}'.repeat(33))).toBe(true)
    expect(refuses('['.repeat(1_000_000))).toBe(true)
    expect(refuses(`"${'['.repeat(100)}"`)).toBe(false)
  })
})

test.each([
  ['{"b":{"k":1,"k":1}}', 'an object with the same field twice'],
  ['{"a":{"__proto__":null}}', 'a field __proto__'],
  ['["a\\u0000"]', 'a text with a NUL or half of a surrogate pair'],
  ['{"\\udfff":1}', 'a text with a NUL or half of a surrogate pair'],
  ['-1e309', 'a number that no double can hold'],
  [nested(40), 'more than 32 levels'],
  ['\ufeff{"a":1}', 'a byte order mark'],
])('JSON that other parsers take, %p, is refused with what is wrong with it', (text, excess) => {
  expect(() => parseStrictJson(text)).toThrow(`The JSON has ${excess}, which is not taken here.`)
})

test('a form that is not in UTF-8 is refused as a form', async () => {
  const reading = readForm(callWith(post(bytes('a=', 0xff))))
  expect(await refusalOf(reading)).toBe('invalid_request')
})

describe('JSON is accepted', () => {
  test.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":"b:c","d":":"}',
    '{"a\\"b":1,"a":2}',
    '{"a\\\\":1,"b":2}',
    '"\\\\\\""',
    '"\\ud83d\\ude00"',
    '{"constructor":1,"toString":2,"hasOwnProperty":3}',
    '{"proto":1}',
    '"__proto__"',
    '{"1":1,"0":2}',
    ' [ ] ',
    '-0',
    '1e308',
    '"\u007f\u2028"',
  ])('%p', (text) => {
    expect(refuses(text)).toBe(false)
  })

  test('if JSON.stringify has written it from well-formed values', () => {
    assert(
      property(jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value)
        if (/__proto__|\\u0000|\\ud[89a-f]/.test(text)) return
        expect(parseStrictJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('only if JSON.parse accepts it', () => {
    assert(
      property(tuple(json(), string({ maxLength: 3 }), constantFrom(0, 1, 2, 3)), ([text, noise, at]) => {
        const broken = text.slice(0, at) + noise + text.slice(at)
        let valid = true
        try {
          JSON.parse(broken)
        } catch {
          valid = false
        }
        if (!valid) expect(refuses(broken)).toBe(true)
      }),
    )
  })

  test('never if it has equal keys', () => {
    assert(
      property(dictionary(string({ minLength: 1 }), anything({ maxDepth: 0 }), { minKeys: 1 }), (object) => {
        const members = Object.keys(object).map((key) => `${JSON.stringify(key)}:0`)
        expect(refuses(`{${[...members, members[0]].join(',')}}`)).toBe(true)
      }),
    )
  })

  test('with an artifact of several megabytes', () => {
    const artifact = 'QUJD'.repeat(3_500_000)
    expect(parseStrictJson(`{"artifact":{"contentBase64":"${artifact}"}}`)).toEqual({
      artifact: { contentBase64: artifact },
    })
  })
})

const numbers = (count: number) => `[${'1,'.repeat(count - 1)}1]`

test('several megabytes outside strings are refused before they are parsed', () => {
  expect(parseStrictJson(numbers(500_000))).toHaveLength(500_000)
  const [most, tooMuch] = [2 * 1024 * 1024, 2 * 1024 * 1024 + 1].map((length) => '{}'.padEnd(length))
  expect(parseStrictJson(most ?? '')).toEqual({})
  for (const text of [numbers(1_100_000), `[${'"",'.repeat(2_200_000)}""]`, tooMuch ?? '']) {
    expect(() => parseStrictJson(text)).toThrow('The request body is too large.')
  }
})
