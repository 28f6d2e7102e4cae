import { describe, expect, test } from 'bun:test'
import { assert, property } from 'fast-check'
import { parseIpNetwork } from '../../src/domain/ip-address.ts'
import { anyText } from '../support/any-text.ts'
import { createClientAddressReader } from '../../src/http/client-address.ts'

const trusted = ['10.0.0.0/8', 'fd00::/8'].map(parseIpNetwork).filter((network) => network !== null)
const read = createClientAddressReader(trusted)
const addressOf = (peer: string | undefined, forwardedFor: string | null): string =>
  read(peer, () => forwardedFor).address

const unlikeAddresses = [
  '203.0.113.9:',
  '203.0.113.9:65536',
  '203.0.113.9:1:2',
  '203.0.113.9:+1',
  '[203.0.113.9]:80',
  '[2001:db8::1',
  '[2001:db8::1]80',
  '[2001:db8::1]:',
  '[[2001:db8::1]]',
  'fe80::1%eth0',
  'for=203.0.113.9',
  'example.com:443',
]

describe('the address of a request', () => {
  test('is that of its peer, whatever its headers claim', () => {
    expect(addressOf('192.0.2.1', '203.0.113.9')).toBe('192.0.2.1')
    expect(createClientAddressReader([])('10.0.0.1', () => '203.0.113.9').address).toBe('10.0.0.1')
  })

  test('has one spelling', () => {
    expect(addressOf('::ffff:192.0.2.1', null)).toBe('192.0.2.1')
    expect(addressOf('2001:DB8::0:1', null)).toBe('2001:db8::1')
  })

  test('is the one that a trusted proxy saw', () => {
    expect(addressOf('10.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
    expect(addressOf('::ffff:10.0.0.1', ' 2001:db8::1 ')).toBe('2001:db8::1')
  })

  test('is the nearest one that is not a trusted proxy, not the first one claimed', () => {
    expect(addressOf('10.0.0.1', '1.1.1.1, 203.0.113.9, 10.0.0.2, fd00::1')).toBe('203.0.113.9')
  })

  test('is that of the farthest proxy if all are trusted', () => {
    expect(addressOf('10.0.0.1', '10.0.0.3, 10.0.0.2')).toBe('10.0.0.3')
  })

  test('is read without the port and brackets that some proxies write', () => {
    for (const [hop, address] of [
      ['203.0.113.9:80', '203.0.113.9'],
      ['203.0.113.9:65535', '203.0.113.9'],
      ['[2001:db8::1]:443', '2001:db8::1'],
      ['[2001:DB8::1]', '2001:db8::1'],
      ['[::ffff:203.0.113.9]:8080', '203.0.113.9'],
      ['::ffff:203.0.113.9', '203.0.113.9'],
    ] as const) {
      expect(addressOf('10.0.0.1', hop)).toBe(address)
      expect(addressOf('10.0.0.1', `1.1.1.1, ${hop}, 10.0.0.2:9000, [fd00::7]`)).toBe(address)
    }
  })

  test('warns once of what a trusted proxy calls an address and is none', () => {
    let warnings = 0
    const reader = createClientAddressReader(trusted, () => void (warnings += 1))
    reader('192.0.2.1', () => 'from a stranger')
    reader('10.0.0.1', () => '203.0.113.9:80')
    expect(warnings).toBe(0)
    for (const hop of ['unknown', 'unknown', '_hidden']) reader('10.0.0.1', () => hop)
    expect(warnings).toBe(1)
  })

  test('is that of the last known hop if the next one is not an address', () => {
    for (const garbage of ['garbage', '', '<script>', '\0', '1.1.1.1, ', ...unlikeAddresses]) {
      expect(addressOf('10.0.0.1', garbage)).toBe('10.0.0.1')
    }
    expect(addressOf('10.0.0.1', 'garbage, 10.0.0.2')).toBe('10.0.0.2')
    expect(addressOf('10.0.0.1', null)).toBe('10.0.0.1')
  })

  test('is looked for within the longest chain of proxies, not beyond it', () => {
    expect(addressOf('10.0.0.1', `203.0.113.9, ${'10.0.0.2,'.repeat(5)}10.0.0.2`)).toBe('203.0.113.9')
    expect(addressOf('10.0.0.1', `203.0.113.9, ${'10.0.0.2,'.repeat(50)}10.0.0.2`)).toBe('10.0.0.2')
  })

  test('is unknown if the connection has none', () => {
    expect(read(undefined, () => '203.0.113.9')).toEqual({ address: 'unknown', limitKey: 'unknown' })
  })

  test('is an IP address or unknown, whatever the header contains', () => {
    assert(property(anyText, (header) => expect(addressOf('10.0.0.1', header)).toMatch(/^[0-9a-f.:]+$/)))
    expect(addressOf('10.0.0.1', '10.0.0.2,'.repeat(100_000))).toBe('10.0.0.1')
  })

  test('counts as its /64 for the limits if it is IPv6', () => {
    expect(read('2001:db8::1', () => null).limitKey).toBe(read('2001:db8::ffff:1', () => null).limitKey)
  })

  test('is read correctly after more callers than are remembered', () => {
    const readAny = createClientAddressReader([])
    const first = readAny('192.0.2.1', () => null)
    expect(readAny('192.0.2.1', () => null)).toBe(first)
    for (let peer = 0; peer < 4096; peer += 1) readAny(`2001:db8::${peer.toString(16)}`, () => null)
    expect(readAny('192.0.2.1', () => null)).not.toBe(first)
    expect(readAny('192.0.2.1', () => null)).toEqual(first)
  })
})
