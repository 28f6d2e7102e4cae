import { expect, test } from 'bun:test'
import { formTicket, readFormTicket } from '../../src/domain/form-ticket.ts'
import { keyOfUuidTime } from '../../src/domain/identifier.ts'

const now = Date.UTC(2026, 7, 1)
const key = keyOfUuidTime(now)
const purpose = { action: '/console', bound: ['a', 'b'] }
const moment = { now, lifetimeMs: 600_000 }
const keys = { server: new Uint8Array(32).fill(1), browser: 'secret' }
const ticket = formTicket(keys, purpose, key)

test('a ticket is valid for its issuer and its purpose', () => {
  expect(readFormTicket(keys, purpose, ticket, moment)).toEqual({ kind: 'genuine', key })
})

test('a ticket of another browser, server key, action or other facts is refused', () => {
  expect(readFormTicket({ ...keys, server: new Uint8Array(32).fill(2) }, purpose, ticket, moment)).toEqual({
    kind: 'foreign',
  })
  expect(readFormTicket({ ...keys, browser: 'other' }, purpose, ticket, moment)).toEqual({ kind: 'foreign' })
  expect(readFormTicket(keys, { ...purpose, action: '/account' }, ticket, moment)).toEqual({ kind: 'foreign' })
  for (const bound of [[], ['a'], ['ab'], ['b', 'a'], ['a', 'b', ''], ['a","b']]) {
    expect(readFormTicket(keys, { ...purpose, bound }, ticket, moment)).toEqual({ kind: 'foreign' })
  }
})

test('a ticket with another key, a changed or shortened MAC, or an empty one is refused', () => {
  const other = keyOfUuidTime(now + 1)
  const altered = [other + ticket.slice(22), ticket.slice(0, -1), `${ticket}A`, `${ticket} `, key, '', 'x'.repeat(65)]
  for (const text of altered) expect(readFormTicket(keys, purpose, text, moment)).toEqual({ kind: 'foreign' })
})

const readAfter = (ms: number) => readFormTicket(keys, purpose, ticket, { ...moment, now: now + ms })

test('a ticket is valid until its lifetime ends, and at most one second before it was issued', () => {
  expect(readAfter(599_999)).toEqual({ kind: 'genuine', key })
  expect(readAfter(600_000)).toEqual({ kind: 'expired' })
  expect(readAfter(-1_000)).toEqual({ kind: 'genuine', key })
  expect(readAfter(-1_001)).toEqual({ kind: 'foreign' })
})

test('a ticket that has outlived the secret of its browser has expired, and no other secret makes it foreign', () => {
  const late = { ...moment, now: now + 60_000, browserLifetimeMs: 60_000 }
  expect(readFormTicket({ ...keys, browser: 'new' }, purpose, ticket, late)).toEqual({ kind: 'expired' })
  expect(readFormTicket(keys, purpose, ticket, late)).toEqual({ kind: 'genuine', key })
})
