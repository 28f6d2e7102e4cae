import { base62OfNumber, numberOfBase62 } from './base62.ts'
import { rowKeyLength } from './identifier.ts'

/**
 * The key of a token, a code, a pair or a grant: a whole number of 53 bits that sorts by time. 41 bits are the milliseconds
 * since 2025, 5 the node that made it, and 7 a counter. Not one bit more: bun:sqlite rounds larger integers.
 */
export type TimeKey = number & { readonly [timeKeyBrand]: true }
declare const timeKeyBrand: unique symbol

const firstMs = Date.UTC(2025, 0, 1)
const countersPerNode = 2 ** 7
const nodes = 2 ** 5
const keysPerMs = nodes * countersPerNode
const lastMs = 2 ** 41 - 1

/** Whether the number can be a key. */
export const isTimeKey = (number: number): number is TimeKey => Number.isSafeInteger(number) && number >= 0

const asTimeKey = (number: number): TimeKey => {
  if (!isTimeKey(number)) throw new RangeError('not a time-ordered key')
  return number
}

/** A row with the key exists already: the whole decision is to be taken again under the next key. */
export class KeyTaken extends Error {}

/** The lowest key that can be made at this moment (epoch milliseconds). A time before 2025 counts as its start. */
export const timeKeyAt = (epochMs: number): TimeKey =>
  asTimeKey(Math.min(Math.max(0, Math.floor(epochMs) - firstMs), lastMs) * keysPerMs)

/** When the key was made, in epoch milliseconds. */
export const timeOfKey = (key: TimeKey): number => firstMs + Math.floor(key / keysPerMs)

/**
 * The key that a node makes at this moment after the key `last`: higher than `last`, also when the clock stands still or
 * was set back. A millisecond whose counter is used up borrows from the next one.
 * @throws RangeError when the node is not one of 32, and once the 41 bits are used up, in the year 2094
 */
export const nextTimeKey = (last: TimeKey, nowMs: number, node: number): TimeKey => {
  if (!Number.isInteger(node) || node < 0 || node >= nodes) throw new RangeError('a node is a number from 0 to 31')
  const fresh = timeKeyAt(nowMs) + node * countersPerNode
  if (fresh > last) return asTimeKey(fresh)
  const isOwn = Math.floor((last % keysPerMs) / countersPerNode) === node
  const isUsedUp = last % countersPerNode === countersPerNode - 1
  const key = isOwn && !isUsedUp ? last + 1 : (Math.floor(last / keysPerMs) + 1) * keysPerMs + node * countersPerNode
  return asTimeKey(key)
}

/** A number of 53 bits takes 9 of the 22 digits that a secret has for its key; the others are 0. */
const significantDigits = 9
const zeros = '0'.repeat(rowKeyLength - significantDigits)

/** The key as the 22 base62 digits that its secret carries. */
export const digitsOfTimeKey = (key: TimeKey): string => zeros + base62OfNumber(key, significantDigits)

/** The key that 22 base62 digits carry; null when they carry none. */
export const timeKeyInDigits = (digits: string): TimeKey | null => {
  const key = digits.startsWith(zeros) ? numberOfBase62(digits, zeros.length) : -1
  return isTimeKey(key) ? key : null
}

/** The key that has the time of a UUIDv7 and the twelve bits after its version, where this program counted. */
export const timeKeyOfUuid = (uuid: Uint8Array): TimeKey => {
  const at = (index: number) => uuid[index] ?? 0
  const ms = ((at(0) << 8) | at(1)) * 2 ** 32 + at(2) * 2 ** 24 + ((at(3) << 16) | (at(4) << 8) | at(5))
  return asTimeKey(timeKeyAt(ms) + (((at(6) & 0x0f) << 8) | at(7)))
}

/** The UUIDv7 that begins as the key does, as 32 hex digits: `timeKeyOfUuid` gives the key back. Its tail is 0 unless given. */
export const uuidHexOfTimeKey = (key: TimeKey, tail: Uint8Array = noTail): string => {
  const ms = timeOfKey(key).toString(16).padStart(12, '0')
  const counter = (0x7000 | (key % keysPerMs)).toString(16)
  const variant = (0x80 | ((tail[0] ?? 0) & 0x3f)).toString(16)
  return ms + counter + variant + tail.subarray(1, tailBytes).toHex()
}

const tailBytes = 8
const noTail = new Uint8Array(tailBytes)
