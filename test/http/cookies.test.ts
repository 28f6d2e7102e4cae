import { expect, test } from 'bun:test'
import {
  cookieBudget,
  cookieName,
  cookieValues,
  hasRoom,
  keepWithinBudget,
  readCookie,
  setCookie,
} from '../../src/http/cookies.ts'

const at = (publicUrl: string) => ({ platform: { publicUrl } })
const plain = at('http://localhost:3000')
const secure = at('https://apps.example')
const requestWith = (cookie: string | null) =>
  new Request('http://localhost/', { headers: cookie === null ? {} : { cookie } })
const read = (cookie: string | null, where = plain) => cookieValues(where, requestWith(cookie), 'session')
const name = 'app-platform-3000-session'

test('without HTTPS the name says whose the cookie is and on which port; with HTTPS it is tied to the host', () => {
  const names = [
    'http://localhost:3000',
    'http://apps.lan',
    'http://[::1]',
    'http://[::1]:81',
    'https://localhost:8443',
  ]
  expect(names.map((url) => cookieName(at(url), 'session'))).toEqual([
    'app-platform-3000-session',
    'app-platform-80-session',
    'app-platform-80-session',
    'app-platform-81-session',
    '__Host-session',
  ])
})

test('a cookie is found by its whole name, in any position and among anything else', () => {
  const headers = [
    'NAME=a',
    'x=1; NAME=a',
    'NAME=a;y=2',
    ' NAME = a ; ',
    'xNAME=b; NAME=a',
    ';;;=;b; NAME=a',
    '"; NAME=a; "',
  ]
  for (const header of headers) expect(read(header.replaceAll('NAME', name))).toEqual(['a'])
  for (const header of [
    null,
    '',
    'x=1',
    `x${name}=a`,
    name,
    `${name}=`,
    name.toUpperCase(),
    '__Host-session=a',
    'session=a',
  ]) {
    expect(read(header)).toEqual([])
  }
  // A comma parts nothing: a value may contain one, and with it somebody else's cookie must not become one of ours.
  expect(read(`x=1, ${name}=a`)).toEqual([])
})

test('cookies of others never make ours unreadable, however long they are', () => {
  for (const length of [100, 8_192, 15_000, 100_000]) expect(read(`x=${'x'.repeat(length)}; ${name}=a`)).toEqual(['a'])
})

test('on HTTPS only the __Host- cookie counts', () => {
  expect(read(`session=b; ${name}=c; __Host-session=a`, secure)).toEqual(['a'])
})

test('of several cookies with one name, the first that is genuine counts; a caller cannot have many tried', () => {
  const request = requestWith(Array.from({ length: 100 }, (_, index) => `${name}=${index}`).join('; '))
  expect(readCookie(plain, request, 'session', (value) => (Number(value) > 3 ? value : null))).toBe('4')
  expect(readCookie(plain, request, 'session', (value) => (Number(value) > 50 ? value : null))).toBeNull()
})

/** The cookies of a browser after an answer that sets these. */
const browser = () => {
  const jar = new Map<string, string>()
  const header = () => [...jar].map(([key, value]) => `${key}=${value}`).join('; ')
  return {
    jar,
    header,
    request: () => requestWith(header()),
    take: (...lines: readonly string[]) => {
      const headers = new Headers()
      for (const line of lines) headers.append('set-cookie', line)
      keepWithinBudget(plain.platform.publicUrl, requestWith(header()), headers)
      for (const line of headers.getSetCookie()) {
        const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (value === '') jar.delete(key)
        else jar.set(key, value)
      }
    },
  }
}

test('all our cookies together stay within one budget: the oldest tabs go first, then a kept form', () => {
  const { jar, header, request, take } = browser()
  const has = (stem: 'kept' | `oidc-${string}`) => jar.has(cookieName(plain, stem))
  jar.set('other', 'x'.repeat(9_000)) // not ours, and not counted
  take(setCookie(plain, 'session', 's'.repeat(76), 60), setCookie(plain, 'device', 'd'.repeat(66), 60))
  take(setCookie(plain, 'kept', 'k'.repeat(1_500), 60))
  take(setCookie(plain, 'oidc-a', 'a'.repeat(1_000), 60))
  take(setCookie(plain, 'oidc-b', 'b'.repeat(1_000), 60))
  expect([has('kept'), has('oidc-a'), has('oidc-b')]).toEqual([true, true, true])
  take(setCookie(plain, 'pending', 'p'.repeat(640), 60))
  expect([has('kept'), has('oidc-a'), has('oidc-b')]).toEqual([true, false, true])
  expect(hasRoom(plain, request(), 'oidc-c', 'c'.repeat(3_100))).toBe(true)
  expect(hasRoom(plain, request(), 'oidc-c', 'c'.repeat(3_400))).toBe(false)
  take(setCookie(plain, 'oidc-c', 'c'.repeat(3_100), 60))
  expect([has('kept'), has('oidc-b'), has('oidc-c')]).toEqual([false, false, true])
  expect(header().length - 'other='.length - 9_000).toBeLessThanOrEqual(cookieBudget)
  expect([jar.has(name), jar.has(cookieName(plain, 'device'))]).toEqual([true, true])
})
