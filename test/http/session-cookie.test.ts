import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Door } from '../../src/http/door.ts'
import { readCookie } from '../../src/http/session-cookie.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { openAsOperator } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { doorOf } from './support/door.ts'

let platform: Platform
let door: Door
beforeAll(async () => {
  platform = await openAsOperator(join(temporaryFolder(), 'cookies.db'))
  door = doorOf(platform)
})
afterAll(async () => await platform.database.close())

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
