import { expect, test } from 'bun:test'
import { checkBody, checkSingleHeaders, createHostCheck } from '../../src/http/admission.ts'
import { callWith } from './support/door.ts'

const check = createHostCheck()
const checkHost = (asked: Request) => check(asked, '/me')
const request = (method: string, headers: Readonly<Record<string, string>>) =>
  new Request('http://localhost/', { method, headers })

test('a request must name exactly one valid host', () => {
  const hostless = { code: 'invalid_request', facts: { message: 'The Host header is missing, malformed or repeated.' } }
  expect(checkHost(request('GET', {}))).toMatchObject(hostless)
  for (const host of ['apps.example', 'localhost:3000', '[::1]:80', '192.0.2.1']) {
    expect(checkHost(request('GET', { host }))).toBeNull()
    expect(checkHost(request('GET', { host }))).toBeNull()
    expect(checkHost(request('GET', { host: `${host}, evil.example` }))).toMatchObject(hostless)
    expect(checkHost(request('GET', {}))).toMatchObject(hostless)
  }
})

test('what monitors ask needs no host, but a host that is sent must be valid', () => {
  for (const route of ['/healthz', '/readyz', '/metrics']) {
    expect(check(request('GET', {}), route)).toBeNull()
    expect(check(request('HEAD', { host: '' }), route)).toBeNull()
    expect(check(request('GET', { host: 'a, b' }), route)?.code).toBe('invalid_request')
  }
  for (const route of ['/', 'unmatched', '/readyz/x']) expect(check(request('GET', {}), route)).not.toBeNull()
})

test('a Host header that hides another URL, or only looks like a host, is refused', () => {
  for (const host of ['user@apps.example', 'apps.example/x', 'a?b', 'a#b', '1.2.3.4.5', '[1:2]', 'xn--', 'a:99999']) {
    expect([host, checkHost(request('GET', { host }))?.code]).toEqual([host, 'invalid_request'])
  }
})

test('the body of a GET or HEAD request is ignored', () => {
  const rule = { limitBytes: 10, mediaTypes: ['application/json'] }
  const headers = { 'content-length': '99999', 'content-type': 'text/odd' }
  for (const method of ['GET', 'HEAD']) expect(checkBody(request(method, headers), rule)).toBeNull()
  for (const method of ['POST', 'DELETE']) {
    expect(checkBody(request(method, headers), rule)?.code).toBe('payload_too_large')
  }
  expect(checkBody(request('DELETE', {}), rule)).toBeNull()
  expect(checkBody(request('POST', {}), rule)?.code).toBe('unsupported_media_type')
})

test('a body that is compressed, or of another type, is refused with what it must be', () => {
  const rule = { limitBytes: 10, mediaTypes: ['application/x-ndjson', 'application/jsonl'] }
  const messageFor = (headers: Readonly<Record<string, string>>) => checkBody(request('POST', headers), rule)?.message
  const typed = { 'content-type': 'application/jsonl' }
  expect(messageFor({ ...typed, 'content-encoding': 'identity' })).toBeUndefined()
  expect(messageFor({ ...typed, 'content-encoding': 'gzip' })).toBe('The body must not be compressed.')
  const other = 'The body must be application/x-ndjson or application/jsonl, in UTF-8.'
  for (const headers of [{}, { 'content-type': 'text/csv' }]) expect(messageFor(headers)).toBe(other)
})

test('headers with a single value are checked on POST and DELETE, and ignored on GET and HEAD', () => {
  for (const name of ['Idempotency-Key', 'Origin', 'Sec-Fetch-Site']) {
    const message = `The ${name} header is missing, malformed or repeated.`
    const twice = { [name]: 'one, two' }
    for (const method of ['POST', 'DELETE']) {
      expect(checkSingleHeaders(callWith(request(method, twice)))).toMatchObject({ facts: { message } })
    }
    for (const method of ['GET', 'HEAD']) expect(checkSingleHeaders(callWith(request(method, twice)))).toBeNull()
  }
})

test('two Authorization headers are always refused', () => {
  for (const method of ['GET', 'POST']) {
    for (const authorization of ['Bearer a, Bearer b', 'Basic a, Basic b']) {
      const call = callWith(request(method, { authorization }))
      expect(checkSingleHeaders(call)).toMatchObject({ code: 'invalid_request' })
    }
  }
})
