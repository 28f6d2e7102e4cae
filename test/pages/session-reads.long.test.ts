import { expect, test } from 'bun:test'
import type { Database } from '../../db/database.ts'
import { signIn } from '../support/sign-in.ts'
import { pages } from '../../src/pages/pages.ts'
import { ticketBook } from '../../src/pages/visit.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { callWith, doorOf, servedBy } from '../http/support/door.ts'
import { trace } from '../support/operator.ts'
import { addUser } from '../support/world.ts'
import { pageTable } from './support/page-table.ts'
import { sessionCookieOf } from '../support/cookie.ts'

const platform = await platformOfFile()

/** How often a session was looked up by its key. */
let reads = 0
const counting = <T extends object>(real: T, wrapped: Partial<T>): T =>
  new Proxy(real, {
    get: (target, name, receiver) => Reflect.get(name in wrapped ? wrapped : target, name, receiver),
  })
const { queries } = platform.database
const sessions = counting(queries.sessions, {
  find: (key) => {
    reads += 1
    return queries.sessions.find(key)
  },
})
const database: Database = counting(platform.database, { queries: counting(queries, { sessions }) })

test('every page and every form reads the session once', async () => {
  const user = await addUser(platform)
  const table = pageTable(platform)
  expect(table.length).toBeGreaterThan(60)
  const signedIn = await signIn(platform, trace, user)
  const door = doorOf({ ...platform, database })
  const served = servedBy(pages, door)
  for (const { method, pattern } of table) {
    // Some forms end the session, so each gets its own session.
    const { sessionToken } = method === 'GET' ? signedIn : await signIn(platform, trace, user)
    const path = pattern.replaceAll(':', '')
    const bound = /^\/(apps|installs)\//.test(path) && !/\/(end|code)$/.test(path) ? [''] : []
    const form = new URLSearchParams({ ticket: ticketBook(door, sessionToken).issue(path, bound) })
    const headers = { cookie: sessionCookieOf(platform.publicUrl, sessionToken), 'sec-fetch-site': 'same-origin' }
    const body = method === 'POST' ? { body: form.toString() } : {}
    const request = new Request(`http://localhost${path}`, { method, headers, ...body })
    callWith(request)
    reads = 0
    await served.handle(request)
    expect([method, pattern, reads]).toEqual([method, pattern, expectedReads(method, pattern)])
  }
})

/** These pages are for everybody, and some of them need settings that are not made here. Two forms check their fields first, and the requests here have no fields. */
const expectedReads = (method: string, pattern: string): number =>
  [
    '/signed-out',
    '/sign-in/handover',
    '/sign-in/oidc',
    '/sign-in/oidc/callback',
    '/sign-in/complete',
    '/sign-in/code',
    '/sign-in/code/passkey',
    '/sign-in/factor',
    '/sign-in/factor/passkey',
    '/forgot-password',
    '/confirm-email',
    '/set-password',
  ].includes(pattern) ||
  (method === 'POST' && ['/sign-in', '/sign-in/passkey', '/oauth/authorize'].includes(pattern))
    ? 0
    : 1
