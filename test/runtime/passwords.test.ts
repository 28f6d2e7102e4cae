import { expect, test } from 'bun:test'
import { PlatformError } from '../../src/domain/errors.ts'
import { createPasswords } from '../../src/runtime/passwords.ts'

const passwords = createPasswords({ cost: 4, parallel: 1 })

test('a password matches its own hash and no other', async () => {
  const hash = await passwords.hash('correct horse')
  expect(hash).toStartWith('$2')
  expect(await passwords.matches('correct horse', hash)).toBe(true)
  expect(await passwords.matches('correct horsf', hash)).toBe(false)
})

test('an unknown user is checked against a hash of the full cost and never matches', async () => {
  for (const password of ['', 'x', 'password']) expect(await passwords.matches(password, null)).toBe(false)
})

test('one more in a long line is turned away, and the line still moves', async () => {
  const narrow = createPasswords({ cost: 4, parallel: 1 })
  const all = await Promise.allSettled(Array.from({ length: 70 }, async () => await narrow.hash('x')))
  const refused = all.filter((one) => one.status === 'rejected')
  expect(refused.length).toBe(9)
  for (const one of refused) {
    expect(one.reason).toBeInstanceOf(PlatformError)
    expect(one.reason.code).toBe('unavailable')
  }
  expect(await narrow.hash('x')).toStartWith('$2')
})
