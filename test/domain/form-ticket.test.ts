import { expect, test } from 'bun:test'
import { formTicket, readFormTicket } from '../../src/domain/form-ticket.ts'
import { keyOfUuidTime } from '../../src/domain/identifier.ts'

const now = Date.UTC(2026, 7, 1)
const key = keyOfUuidTime(now)
const purpose = { action: '/console', bound: ['a', 'b'] }
const moment = { now, lifetimeMs: 600_000 }
const ticket = formTicket('secret', purpose, key)

test('a ticket is read back by who issued it, for what it was issued', () => {
  expect(readFormTicket('secret', purpose, ticket, moment)).toBe(key)
})

test('a ticket of another secret, another action or other facts is none', () => {
  expect(readFormTicket('other', purpose, ticket, moment)).toBeNull()
  expect(readFormTicket('secret', { ...purpose, action: '/account' }, ticket, moment)).toBeNull()
  for (const bound of [[], ['a'], ['ab'], ['b', 'a'], ['a', 'b', ''], ['a","b']]) {
    expect(readFormTicket('secret', { ...purpose, bound }, ticket, moment)).toBeNull()
  }
})

test('a ticket with another key, a changed or shortened MAC, or no ticket at all is none', () => {
  const other = keyOfUuidTime(now + 1)
  const altered = [other + ticket.slice(22), ticket.slice(0, -1), `${ticket}A`, `${ticket} `, key, '', 'x'.repeat(65)]
  for (const text of altered) expect(readFormTicket('secret', purpose, text, moment)).toBeNull()
})

const readAfter = (ms: number) => readFormTicket('secret', purpose, ticket, { ...moment, now: now + ms })

test('a ticket is good until its lifetime is over, and no more than a second before it was issued', () => {
  expect(readAfter(599_999)).toBe(key)
  expect(readAfter(600_000)).toBeNull()
  expect(readAfter(-1_000)).toBe(key)
  expect(readAfter(-1_001)).toBeNull()
})
