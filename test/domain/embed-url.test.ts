import { expect, test } from 'bun:test'
import { embedUrlFault, embedUrlOf } from '../../src/domain/embed-url.ts'

test('an app names one HTTPS page, and its frame has exactly the origin of that page', () => {
  for (const [url, origin] of [
    ['https://app.example/builder?theme=plain', 'https://app.example'],
    ['https://app.example', 'https://app.example'],
    ['https://app.example:8443/', 'https://app.example:8443'],
    ['https://192.0.2.7/x', 'https://192.0.2.7'],
    ['https://app.example/caf%C3%A9?at=the%20sea', 'https://app.example'],
  ] as const) {
    expect(embedUrlFault({ embedUrl: url })).toBeNull()
    expect(embedUrlOf({ embedUrl: url })).toEqual({ url, origin })
  }
})

test('the address of a page has 2048 characters at most', () => {
  const longest = `https://app.example/${'x'.repeat(2048 - 'https://app.example/'.length)}`
  expect(embedUrlFault({ embedUrl: longest })).toBeNull()
  expect(embedUrlFault({ embedUrl: `${longest}x` })).toBe('embedUrl has at most 2048 characters.')
})

test('a manifest without a page opens nothing, and nothing is wrong with it', () => {
  expect(embedUrlFault({ name: 'x' })).toBeNull()
  expect(embedUrlOf({ name: 'x' })).toBeNull()
})

test.each([
  7,
  null,
  '',
  '/builder',
  'http://app.example/',
  'javascript:alert(1)',
  'https://app.example/#there',
  'https://user@app.example/',
  'https://user:pass@app.example/',
  'https://*.example/',
  'https://APP.example/',
  'https://app.example:443/',
  'https://app.example/a/../b',
  'https://app.example\\@evil.example/',
  'https://app.example/?a=\\',
  'https://app.example/?a=|',
  'https://app.example/?a=%zz',
  'https://app.example; script-src *',
  'https://app.example,evil.example/',
  'https://[2001:db8::1]/',
  'https://0x7f000001/',
  'https://127.1/',
  'https://app.example/ ',
  'https://app.example/\n',
  'https://é.example/',
  'https:///x',
  `https://app.example/${'x'.repeat(2048)}`,
])('no page is at %p', (embedUrl) => {
  expect(embedUrlFault({ embedUrl })).toMatch(/^embedUrl .*\.$/)
  expect(embedUrlOf({ embedUrl })).toBeNull()
})
