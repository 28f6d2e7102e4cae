import { describe, expect, test } from 'bun:test'
import { crc32 as zlibCrc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { crc32 } from '../../src/domain/crc32.ts'

const ascii = fc.string({ unit: 'binary-ascii', maxLength: 120 })

describe('CRC-32', () => {
  test('the check value of the catalogue is computed', () => {
    expect(crc32('123456789')).toBe(0xcbf43926)
    expect(crc32('')).toBe(0)
  })

  test('it is the one of zlib', () => {
    fc.assert(fc.property(ascii, (text) => expect(crc32(text)).toBe(zlibCrc32(text))))
  })

  test('it can stop before the end of the text', () => {
    fc.assert(fc.property(ascii, ascii, (head, tail) => expect(crc32(head + tail, head.length)).toBe(crc32(head))))
  })
})
