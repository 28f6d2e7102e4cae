import { expect, test } from 'bun:test'
import { assert, property, string } from 'fast-check'
import { anyText } from '../support/any-text.ts'
import { readBasicCredentials, readParameters } from '../../src/http/standard-client.ts'
import { callWith } from './support/door.ts'
import { refusalOf } from '../operations/support/owner.ts'

const read = async (body: string, query = '') => {
  const request = new Request(`http://localhost/oauth/token${query}`, { method: 'POST', body })
  return await readParameters(callWith(request))
}

const names = `client_id client_secret client_assertion client_assertion_type grant_type code redirect_uri
  code_verifier refresh_token scope token token_type_hint`.split(/\s+/)

test('a parameter may come once, and a known one never in the URL', async () => {
  expect(await refusalOf(read('utm_source=a&utm_source=b'))).toBe('invalid_request')
  for (const name of names) {
    expect(await refusalOf(read(`${name}=a&${name}=b`))).toBe('invalid_request')
    expect(await refusalOf(read('', `?${name}=a`))).toBe('invalid_request')
  }
})

test('unknown parameters are ignored in the body and in the URL', async () => {
  const parameters = await read('utm_source=a&code=c', '?utm_source=a&utm_source=b')
  expect(parameters('code')).toBe('c')
  expect(parameters('scope')).toBeNull()
})

const header = (pair: string | Uint8Array, scheme = 'Basic'): string =>
  `${scheme} ${Buffer.from(pair).toString('base64')}`

const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)

test('both halves are form-decoded, whatever characters they have', () => {
  assert(
    property(
      string({ unit: 'grapheme' }).filter((text) => text.isWellFormed()),
      anyText.filter((text) => text.isWellFormed()),
      (clientId, clientSecret) => {
        const pair = `${encode(clientId)}:${encode(clientSecret)}`
        expect(readBasicCredentials(header(pair))).toEqual({ clientId, clientSecret })
      },
    ),
  )
})

test('the first colon separates ID and secret, the scheme is read in any case, and either half may be empty', () => {
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
    'Basic YTq=', // unused bits that are not 0
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
