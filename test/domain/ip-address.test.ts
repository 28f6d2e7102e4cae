import { describe, expect, test } from 'bun:test'
import { assert, constantFrom, integer, ipV4, ipV6, oneof, property, string } from 'fast-check'
import {
  addressFault,
  containsIpv4,
  formatIpAddress,
  formatIpNetwork,
  type IpAddress,
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

const addressOf = (text: string): IpAddress => {
  const address = parseIpAddress(text)
  if (address === null) throw new Error(`${text} is no address`)
  return address
}

const spelt = (groups: readonly number[]): IpAddress => addressOf(groups.map((group) => group.toString(16)).join(':'))

const key = (text: string): string => limitKeyOf(addressOf(text))

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
    ['::1.2.3.4', '::102:304'],
    ['64:ff9b::0.0.1.2', '64:ff9b::102'],
    ['1::', '1::'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['0000:0000:0000:0000:0000:ffff:255.255.255.255', '255.255.255.255'],
    ['2001:db8:1:1:1:1:0:1', '2001:db8:1:1:1:1:0:1'],
  ])('%p is written as %p', (text, spelling) => {
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
    '1.2.3.4::1',
    '::ffff:0x7f.0.0.1',
    '::ffff:01.2.3.4',
    '::1.2.3.4%eth0',
    'fe80::1%eth0',
    '[::1]',
    'unknown',
    '_hidden',
    '::g',
    `${'0'.repeat(60)}::1`,
  ])('%p is refused', (text) => {
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

  test('contains every address with the same first bits, and no other', () => {
    const groups = [0x2001, 0xdb8, 0xaaaa, 0x5555, 0xaaaa, 0x5555, 0xaaaa, 0x5555]
    const address = spelt(groups)
    const flipped = Array.from({ length: 128 }, (_, bit) =>
      spelt(groups.map((part, index) => (index === bit >> 4 ? part ^ (0x8000 >> (bit & 15)) : part))),
    )
    for (let prefix = 0; prefix <= 128; prefix += 1) {
      expect(flipped.map((other) => isWithin(other, { address, prefix }))).toEqual(
        flipped.map((_, bit) => bit >= prefix),
      )
    }
  })

  test.each(['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', '10.0.0.0/08', '::/129', '/8', '10.0.0.0/8/8', 'all'])(
    '%p is refused',
    (text) => {
      expect(parseIpNetwork(text)).toBeNull()
    },
  )
})

const networkOf = (text: string) => {
  const parsed = parseIpNetwork(text)
  if (parsed === null) throw new Error(text)
  return parsed
}

test('the one spelling of a network is read as the same network, also where IPv4 is written as IPv6', () => {
  const addresses = oneof(ipV4(), ipV6(), constantFrom('::ffff:0:0', '::ffff:10.1.2.3', '::', 'ffff::ffff:0:1'))
  const given = [addresses, integer({ min: 0, max: 128 }), oneof(ipV4(), ipV6())] as const
  assert(
    property(...given, (address, length, other) => {
      const first = networkOf(`${address}/${address.includes(':') ? length : length % 33}`)
      const again = networkOf(formatIpNetwork(first))
      expect(formatIpNetwork(again)).toBe(formatIpNetwork(first))
      expect(again.prefix).toBe(first.prefix)
      expect(isWithin(addressOf(other), again)).toBe(isWithin(addressOf(other), first))
      expect(isWithin(addressOf(address), again)).toBe(true)
    }),
  )
  for (const [written, spelling] of [
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['::ffff:0:0/90', '::ffc0:0:0/90'],
    ['2001:db8::1/32', '2001:db8::/32'],
  ] as const) {
    expect(formatIpNetwork(networkOf(written))).toBe(spelling)
  }
})

test('a network has all of IPv4 in it if it is that or wider, in any spelling', () => {
  for (const text of ['0.0.0.0/0', '1.2.3.4/0', '::ffff:0:0/96', '::ffff:0:0/90', '::/0', '::/1', '::/80']) {
    expect([text, containsIpv4(networkOf(text))]).toEqual([text, true])
  }
  for (const text of ['0.0.0.0/1', '10.0.0.0/8', '::ffff:0:0/97', '2001:db8::/32', '8000::/1', '::/96', '::1']) {
    expect([text, containsIpv4(networkOf(text))]).toEqual([text, false])
  }
})

describe('a limit counts', () => {
  test('IPv4 by the address, in every spelling', () => {
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

const closed = [
  ['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
  ['127.0.0.1', '127.255.255.254', '168.63.129.16', '169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ['192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.255', '198.18.0.1'],
  ['198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ['::', '::1', '::7f00:1', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::a00:1', '100::1', 'fc00::1'],
  ['fd00:ec2::254', 'fd20:ce::254', 'fe80::1', 'febf::1', 'fec0::1', 'ff02::1', '2001::1', '2001:0:4136:e378::1'],
  ['2001:10::1', '2001:20::1', '2001:db8::1', '2002:7f00:1::', '2002:a00:1::1', '3fff::1', '4000::1', '5f00::1'],
].flat()
const open = ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.1', '100.63.255.255', '100.128.0.1', '126.255.255.255']
const more = ['128.0.0.1', '172.15.255.255', '172.32.0.1', '192.167.0.1', '198.17.0.1', '198.20.0.1', '223.255.255.254']
const openV6 = ['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450::1', '2003::1', '3ffe::1']

describe('whether an address may be called', () => {
  test.each(closed)('a private, reserved or special one may not: %s', (text) => {
    expect(addressFault(text, [])).toBe('not_public')
  })

  test.each([...open, ...more, ...openV6])('a public one may: %s', (text) => {
    expect(addressFault(text, [])).toBeNull()
  })

  test.each(['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:a00:1', '::ffff:8.8.8.8'])(
    'not when it is IPv4 in the form of IPv6, even in an allowed network: %s',
    (text) => {
      expect(addressFault(text, [])).toBe('mapped')
      expect(addressFault(text, [networkOf('127.0.0.0/8'), networkOf('10.0.0.0/8'), networkOf('::/0')])).toBe('mapped')
    },
  )

  test.each([
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '127.0.0.1.',
    '[::1]',
    'fe80::1%eth0',
  ])('text that is not a plain address may not: %s', (text) => {
    expect(addressFault(text, [])).toBe('malformed')
    expect(addressFault(text, [networkOf('0.0.0.0/0'), networkOf('::/0')])).toBe('malformed')
  })

  test('one in a network that the operator allows may, and no other', () => {
    const allowed = [networkOf('10.1.0.0/16'), networkOf('fd12::/16')]
    expect(addressFault('10.1.2.3', allowed)).toBeNull()
    expect(addressFault('fd12::7', allowed)).toBeNull()
    expect(addressFault('10.2.0.1', allowed)).toBe('not_public')
    expect(addressFault('127.0.0.1', allowed)).toBe('not_public')
    expect(addressFault('fd13::7', allowed)).toBe('not_public')
    expect(addressFault('8.8.8.8', allowed)).toBeNull()
  })
})
