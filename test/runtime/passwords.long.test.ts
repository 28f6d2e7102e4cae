import { expect, test } from 'bun:test'
import { PlatformError } from '../../src/domain/errors.ts'
import { createPasswords, hashOfNobody } from '../../src/runtime/passwords.ts'

const passwords = createPasswords({ cost: 4 })

test('a password matches its own hash and no other', async () => {
  const hash = await passwords.hash('correct horse')
  expect(hash).toStartWith('$2')
  expect(await passwords.matches('correct horse', hash)).toBe(true)
  expect(await passwords.matches('correct horsf', hash)).toBe(false)
})

test('the hash for unknown users costs what a real one does', async () => {
  for (const cost of [4, 10]) {
    const real = await createPasswords({ cost }).hash('x')
    expect(hashOfNobody(cost).slice(3, 7)).toBe(real.slice(3, 7)) // behind the version, which changes nothing
    expect(hashOfNobody(cost).length).toBe(real.length)
  }
})

test('an unknown user takes as long as a known one', async () => {
  const slow = createPasswords({ cost: 10 })
  const known = await slow.hash('x')
  const timeOf = async (hash: string | null) => {
    const startedAt = performance.now()
    for (let round = 0; round < 3; round += 1) await slow.matches('y', hash)
    return performance.now() - startedAt
  }
  expect(await timeOf(null)).toBeGreaterThan((await timeOf(known)) / 4)
})

test('an unknown user never matches', async () => {
  for (const password of ['', 'x', 'password']) expect(await passwords.matches(password, null)).toBe(false)
})

test('a caller who joins a full line is turned away, and the line still moves', async () => {
  const narrow = createPasswords({ cost: 4 })
  const all = await Promise.allSettled(Array.from({ length: 70 }, async () => await narrow.hash('x')))
  const refused = all.filter((one) => one.status === 'rejected')
  expect(refused.length).toBe(9)
  for (const one of refused) {
    expect(one.reason).toBeInstanceOf(PlatformError)
    expect(one.reason.code).toBe('unavailable')
  }
  expect(await narrow.hash('x')).toStartWith('$2')
})

test('callers without a place of their own, however many, take none from a caller who has one', async () => {
  const crowded = createPasswords({ cost: 4 })
  const crowd = Array.from({ length: 200 }, async () => await crowded.hash('x').catch(() => null))
  const places = [
    { network: 'home/24', account: 'ada', knownAs: 'her browser' },
    { network: 'office/24', account: 'bob', knownAs: null },
  ]
  const named = places.map(async (place) => await crowded.inLineAs(place).hash('y'))
  const late = Array.from({ length: 200 }, async () => await crowded.hash('x').catch(() => null))
  for (const hash of await Promise.all(named)) expect(hash).toStartWith('$2')
  await Promise.all([...crowd, ...late])
})

test('a caller who has waited too long is turned away without a hash, and does not delay later ones', async () => {
  const impatient = createPasswords({ cost: 8, longestWaitMs: 0 })
  const all = await Promise.allSettled(Array.from({ length: 20 }, async () => await impatient.hash('x')))
  const refused = all.filter((one) => one.status === 'rejected')
  expect(refused).toHaveLength(19)
  for (const one of refused) expect(one.reason.code).toBe('unavailable')
  expect(await impatient.hash('x')).toStartWith('$2')
})
