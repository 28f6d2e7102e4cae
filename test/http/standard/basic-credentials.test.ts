import { expect, test } from 'bun:test'
import { assert, property, string } from 'fast-check'
import { readBasicCredentials } from '../../../src/http/standard/basic-credentials.ts'

const header = (pair: string | Uint8Array, scheme = 'Basic'): string =>
  `${scheme} ${Buffer.from(pair).toString('base64')}`

const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)

test('both halves are read, form-decoded, whatever they hold', () => {
  assert(
    property(
      string({ unit: 'grapheme' }).filter((text) => text.isWellFormed()),
      string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
      (clientId, clientSecret) => {
        const pair = `${encode(clientId)}:${encode(clientSecret)}`
        expect(readBasicCredentials(header(pair))).toEqual({ clientId, clientSecret })
      },
    ),
  )
})

test('the first colon divides, the scheme has no case, and a half may be empty', () => {
  expect(readBasicCredentials(header('a:b:c', 'bAsIc'))).toEqual({ clientId: 'a', clientSecret: 'b:c' })
  expect(readBasicCredentials(header('a:b', 'Basic '))).toEqual({ clientId: 'a', clientSecret: 'b' })
  expect(readBasicCredentials(header('%61+b:%3A'))).toEqual({ clientId: 'a b', clientSecret: ':' })
  expect(readBasicCredentials(header(':'))).toEqual({ clientId: '', clientSecret: '' })
})

test('nothing is repaired: bad base64, bad escapes, bad UTF-8, no colon, another scheme', () => {
  for (const bad of [
    'Basic',
    'Basic ',
    'Basic YTpi====',
    'Basic YTpi=',
    'Basic YTp', // no padding
    'Basic YTq=', // bits that stand for nothing
    'Basic YT pi',
    'Basic YTpi,YTpi',
    'Basic YTpi\u0000',
    'Basic YTp_', // base64url
    'Basic a:b',
    'Bearer YTpi',
    'YTpi',
    '',
    header('no colon'),
    header('a%:b'),
    header('a:%zz'),
    header('a:%ff'),
    header('a:%ED%A0%80'), // a lone surrogate
    header(new Uint8Array([0x61, 0x3a, 0xff])),
    header(new Uint8Array([0xc0, 0xba, 0x3a])), // overlong
  ]) {
    expect({ bad, read: readBasicCredentials(bad) }).toEqual({ bad, read: null })
  }
})
