import { expect, test } from 'bun:test'
import { callOf } from '../../src/http/call.ts'
import { callWith } from './support/door.ts'

const authorizationOf = (header: string) =>
  callWith(new Request('http://localhost/', { headers: { authorization: header } })).authorization

test('a request that did not come through the server is not answered', () => {
  const request = new Request('http://localhost/')
  expect(() => callOf(request)).toThrow('did not come through the server')
  const call = callWith(request)
  expect(callOf(request)).toBe(call)
})

test('the case of the Authorization scheme does not matter, and the token is read unchanged', () => {
  expect(callWith(new Request('http://localhost/')).authorization).toEqual({ kind: 'none' })
  expect(authorizationOf('')).toEqual({ kind: 'none' })
  for (const header of ['Bearer a b', 'bearer a b', 'BEARER   a b']) {
    expect(authorizationOf(header)).toEqual({ kind: 'bearer', token: 'a b' })
  }
  for (const header of ['Basic YTpi', 'Bearer', 'Bearera']) {
    expect(authorizationOf(header)).toEqual({ kind: 'other', header })
  }
})
