import { beforeAll, expect, test } from 'bun:test'
import type { Door } from '../../src/http/door.ts'
import { readCookie } from '../../src/http/session-cookie.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { doorOf } from './support/door.ts'

const platform = await platformOfFile()
let door: Door
beforeAll(async () => {
  door = doorOf(platform)
})

const read = (cookie: string | null, at: Door = door) =>
  readCookie(at, new Request('http://localhost/', { headers: cookie === null ? {} : { cookie } }), 'session')

test('a cookie is found by its whole name, in any position', () => {
  for (const header of ['session=a', 'x=1; session=a', 'session=a;y=2', ' session=a ; ', 'xsession=b; session=a']) {
    expect(read(header)).toBe('a')
  }
  for (const header of [null, '', 'x=1', 'xsession=a', 'session', 'Session=a', '__Host-session=a']) {
    expect(read(header)).toBeNull()
  }
})

test('on HTTPS only the __Host- cookie counts', () => {
  const secure = { ...door, platform: { ...platform, publicUrl: 'https://platform.example' } }
  expect(read('session=b; __Host-session=a', secure)).toBe('a')
  expect(read('session=b', secure)).toBeNull()
})

test('of two cookies with the same name, neither is trusted', () => {
  expect(read('session=a; session=a')).toBeNull()
})

test('a Cookie header of more than 8 KiB is not read', () => {
  expect(read('session=a; x='.padEnd(8_192, 'x'))).toBe('a')
  expect(read('session=a; x='.padEnd(8_193, 'x'))).toBeNull()
})
