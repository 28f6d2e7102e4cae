import { expect, test } from 'bun:test'
import { seal, unseal } from '../../src/pages/sealed.ts'
import { createClock } from '../../src/runtime/clock.ts'
import { createRandom } from '../../src/runtime/random.ts'

let now = Date.parse('2026-08-01T12:00:00Z')
const platform = { clock: createClock({ wall: () => now, monotonic: () => now }, null), random: createRandom() }
const whom = { door: { serverKey: new Uint8Array(32).fill(7), platform }, secret: 'session', place: 'a page' }

test('what was sealed is read until it is too old, with the time', () => {
  const [text, bytes] = [seal(whom, 'the secret ☂'), seal(whom, new Uint8Array([0, 255]))]
  const at = now
  now += 59_999
  expect(unseal(whom, text, 60)).toEqual({ at, content: Buffer.from('the secret ☂') })
  expect(unseal(whom, bytes, 60)).toEqual({ at, content: Buffer.from([0, 255]) })
  now += 1
  expect(unseal(whom, text, 60)).toBeNull()
})

test('it is read for its own browser and place only, and no two are alike', () => {
  const sealed = seal(whom)
  expect(unseal(whom, sealed, 60)?.content).toHaveLength(0)
  expect(unseal({ ...whom, secret: 'other' }, sealed, 60)).toBeNull()
  expect(unseal({ ...whom, place: 'another page' }, sealed, 60)).toBeNull()
  expect(seal(whom)).not.toBe(sealed)
})
