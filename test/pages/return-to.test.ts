import { expect, test } from 'bun:test'
import { safeReturnTo } from '../../src/pages/visit.ts'

const publicUrl = 'https://apps.example.com'

test('a path of this server with its query is accepted', () => {
  for (const path of ['/', '/account', '/oauth/authorize?client_id=a&state=%2F%2Fx', '/console/a.b/versions/1.0.0+x']) {
    expect(safeReturnTo(path, publicUrl)).toBe(path)
  }
})

test('a path may be as long as the longest authorization request, and no longer', () => {
  const longest = `/${'a'.repeat(32_767)}`
  expect(safeReturnTo(longest, publicUrl)).toBe(longest)
  expect(safeReturnTo(`${longest}a`, publicUrl)).toBe('/')
})

test('a path that could lead to another host is replaced by the start page', () => {
  const foreign = [
    null,
    '',
    'account',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\/evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    ' /account',
    'https://evil.example',
    'https:/evil.example',
    'javascript:alert(1)',
    '/.//evil.example',
    '/x/..//evil.example',
    `/${'a'.repeat(33_000)}`,
    '/ä',
  ]
  for (const text of foreign) expect(safeReturnTo(text, publicUrl)).toBe('/')
})
