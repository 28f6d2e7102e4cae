import { describe, expect, test } from 'bun:test'
import { assert, ipV4, ipV6, oneof, property, string } from 'fast-check'
import {
  formatIpAddress,
  isWithin,
  limitKeyOf,
  networkKeyOf,
  parseIpAddress,
  parseIpNetwork,
} from '../../src/domain/ip-address.ts'

const canonical = (text: string): string | null => {
  const address = parseIpAddress(text)
  return address === null ? null : formatIpAddress(address)
}

const holds = (network: string, address: string): boolean => {
  const [parsed, member] = [parseIpNetwork(network), parseIpAddress(address)]
  return parsed !== null && member !== null && isWithin(member, parsed)
}

const key = (text: string): string => limitKeyOf(parseIpAddress(text) ?? [])

describe('an IP address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['0000:0000:0000:0000:0000:ffff:255.255.255.255', '255.255.255.255'],
    ['2001:db8:1:1:1:1:0:1', '2001:db8:1:1:1:1:0:1'],
  ])('%p is spelt %p', (text, spelling) => {
    expect(canonical(text)).toBe(spelling)
  })

  test.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '1.2.3.4 ',
    '1.2.3.-4',
    '1.2.3.4:80',
    ':',
    ':::',
    '1::2::3',
    '::12345',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '::1.2.3',
    '::1.2.3.4:5',
    'fe80::1%eth0',
    '[::1]',
    'unknown',
    '_hidden',
    '::g',
    `${'0'.repeat(60)}::1`,
  ])('%p is none', (text) => {
    expect(parseIpAddress(text)).toBeNull()
  })

  test('every address reads back as itself', () => {
    assert(
      property(oneof(ipV4(), ipV6()), (text) => {
        const once = canonical(text)
        expect(once === null ? null : canonical(once)).toBe(once)
      }),
    )
  })

  test('no text makes the parser throw', () => {
    assert(property(string(), (text) => void parseIpNetwork(text)))
  })
})

describe('an IP network', () => {
  test.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['192.0.2.128/25', '192.0.2.127', false],
    ['192.0.2.128/25', '192.0.2.129', true],
    ['0.0.0.0/0', '203.0.113.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '203.0.113.1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['::1', '::1', true],
    ['::1', '::2', false],
  ])('%p holds %p: %p', (network, address, expected) => {
    expect(holds(network, address)).toBe(expected)
  })

  test('holds what is the same up to its length, bit by bit, whatever comes after it', () => {
    const address = parseIpAddress('2001:db8:aaaa:5555:aaaa:5555:aaaa:5555') ?? []
    const flipped = (bit: number) =>
      address.map((byte, index) => (index === bit >> 3 ? byte ^ (0x80 >> (bit & 7)) : byte))
    for (let prefix = 0; prefix <= 128; prefix += 1) {
      for (let bit = 0; bit < 128; bit += 1) {
        expect(isWithin(flipped(bit), { address, prefix })).toBe(bit >= prefix)
      }
    }
  })

  test.each(['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', '10.0.0.0/08', '::/129', '/8', '10.0.0.0/8/8', 'all'])(
    '%p is none',
    (text) => {
      expect(parseIpNetwork(text)).toBeNull()
    },
  )
})

describe('a limit counts', () => {
  test('IPv4 by the address, however it is spelt', () => {
    expect(key('192.0.2.1')).toBe('192.0.2.1')
    expect(key('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(key('192.0.2.2')).not.toBe(key('192.0.2.1'))
  })

  test('IPv6 by the /64', () => {
    expect(key('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(key('2001:db8:1:2:ffff::1')).toBe(key('2001:db8:1:2::1'))
    expect(key('2001:db8:1:3::1')).not.toBe(key('2001:db8:1:2::1'))
  })
})

test('the network of an address is its /24, or its /48 for IPv6', () => {
  expect(networkKeyOf('203.0.113.9')).toBe('203.0.113.0/24')
  expect(networkKeyOf('::ffff:203.0.113.200')).toBe('203.0.113.0/24')
  expect(networkKeyOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1::/48')
  expect(networkKeyOf('unknown')).toBe('unknown')
})
