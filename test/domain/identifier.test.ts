import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  asRowKey,
  clientId,
  environmentOfClientId,
  isRowKey,
  keyOfUuidTime,
  recordId,
  recordIdOfKey,
  rowKey,
  uuidTimeOfKey,
} from '../../src/domain/identifier.ts'

const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 })
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const uuidAt = (epochMs: number, fill: number) => {
  const bytes = Buffer.alloc(16, fill)
  bytes.writeUIntBE(epochMs, 0, 6)
  return bytes
}

describe('the key of a row', () => {
  test('is 22 base62 digits of its UUID', () => {
    fc.assert(fc.property(uuid, (id) => expect(rowKey(id)).toMatch(/^[0-9A-Za-z]{22}$/)))
  })

  test('sorts by its time', () => {
    fc.assert(
      fc.property(time, time, (a, b) => {
        fc.pre(a < b)
        expect(rowKey(uuidAt(a, 255)) < rowKey(uuidAt(b, 0))).toBeTrue()
      }),
    )
  })

  test('contains the time at which it was made', () => {
    fc.assert(fc.property(time, (at) => expect(uuidTimeOfKey(rowKey(uuidAt(at, 0x7a)))).toBe(at)))
  })

  test('is between the lowest key of its moment and that of the next', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 2 }), (at) => {
        expect(keyOfUuidTime(at) <= rowKey(uuidAt(at, 0))).toBeTrue()
        expect(rowKey(uuidAt(at, 255)) < keyOfUuidTime(at + 1)).toBeTrue()
      }),
    )
  })

  test('has a lowest one for every number as the time', () => {
    expect(keyOfUuidTime(-1)).toBe(keyOfUuidTime(0))
    expect(keyOfUuidTime(1.9)).toBe(keyOfUuidTime(1))
    expect(keyOfUuidTime(Number.POSITIVE_INFINITY)).toBe(keyOfUuidTime(2 ** 48 - 1))
  })

  test('is distinguished from other texts', () => {
    fc.assert(fc.property(uuid, (id) => expect(isRowKey(rowKey(id))).toBeTrue()))
    expect(isRowKey(rowKey(Buffer.alloc(16, 255)))).toBeTrue()
    for (const text of ['', '0'.repeat(21), '0'.repeat(23), `${'0'.repeat(21)}-`, 'z'.repeat(22)]) {
      expect(isRowKey(text)).toBeFalse()
      expect(() => asRowKey(text)).toThrow(TypeError)
      expect(() => recordIdOfKey('crd_', text)).toThrow('not the key of a row')
    }
  })

  test('is not made of more or fewer bytes than a UUID', () => {
    expect(() => rowKey(new Uint8Array(17).fill(255))).toThrow(RangeError)
  })
})

describe('a record ID', () => {
  test('is its prefix and 32 hex digits', () => {
    fc.assert(fc.property(uuid, (id) => expect(recordId('app_', id)).toMatch(/^app_[0-9a-f]{32}$/)))
  })

  test('and the key of its secret are one UUID written two ways', () => {
    fc.assert(fc.property(uuid, (id) => expect(recordIdOfKey('crd_', rowKey(id))).toBe(recordId('crd_', id))))
  })

  test('of a part of a larger buffer is only that part', () => {
    const buffer = Uint8Array.from({ length: 32 }, (_, index) => index)
    expect(recordId('ver_', buffer.subarray(8, 24))).toBe('ver_08090a0b0c0d0e0f1011121314151617')
  })
})

describe('a client ID', () => {
  test('names its environment', () => {
    fc.assert(
      fc.property(uuid, fc.constantFrom('development' as const, 'production' as const), (random, environment) => {
        const id = clientId(environment, random)
        expect(id).toMatch(environment === 'development' ? /^apc_dev_[0-9A-Za-z]{22}$/ : /^apc_live_[0-9A-Za-z]{22}$/)
        expect(environmentOfClientId(id)).toBe(environment)
      }),
    )
  })

  test('that is malformed names no environment', () => {
    const id = clientId('production', new Uint8Array(16).fill(9))
    const cut = id.slice(0, -1)
    for (const text of ['', 'apc_live_', cut, `${id}0`, id.replace('live', 'dev1'), ` ${id}`, `${cut}-`]) {
      expect(environmentOfClientId(text)).toBeNull()
    }
  })

  test('is read without an error, whatever the text is', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => expect(environmentOfClientId(text)).toBeNull()))
  })
})
