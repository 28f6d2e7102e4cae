import { describe, expect, test } from 'bun:test'
import { parseIpNetwork } from '../../src/domain/ip-address.ts'
import { addressFault } from '../../src/domain/public-address.ts'

const network = (text: string) => {
  const parsed = parseIpNetwork(text)
  if (parsed === null) throw new Error(text)
  return parsed
}

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

describe('an address may be called', () => {
  test.each(closed)('not when it is private, reserved or special: %s', (text) => {
    expect(addressFault(text, [])).toBe('not_public')
  })

  test.each([...open, ...more, ...openV6])('when it is public: %s', (text) => {
    expect(addressFault(text, [])).toBeNull()
  })

  test.each(['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:a00:1', '::ffff:8.8.8.8'])(
    'not when it is IPv4 in the form of IPv6, even in an allowed network: %s',
    (text) => {
      expect(addressFault(text, [])).toBe('mapped')
      expect(addressFault(text, [network('127.0.0.0/8'), network('10.0.0.0/8'), network('::/0')])).toBe('mapped')
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
  ])('not when it is no plain address: %s', (text) => {
    expect(addressFault(text, [])).toBe('malformed')
    expect(addressFault(text, [network('0.0.0.0/0'), network('::/0')])).toBe('malformed')
  })

  test('when the operator has named its network, and then no other is opened', () => {
    const allowed = [network('10.1.0.0/16'), network('fd12::/16')]
    expect(addressFault('10.1.2.3', allowed)).toBeNull()
    expect(addressFault('fd12::7', allowed)).toBeNull()
    expect(addressFault('10.2.0.1', allowed)).toBe('not_public')
    expect(addressFault('127.0.0.1', allowed)).toBe('not_public')
    expect(addressFault('fd13::7', allowed)).toBe('not_public')
    expect(addressFault('8.8.8.8', allowed)).toBeNull()
  })
})
