/** Base62, most significant digit first and padded with 0, so that text sorts as its bytes do (contract section 2). */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const digitCodes = Buffer.from(alphabet)
const valueOf = new Int8Array(128).fill(-1)
digitCodes.forEach((code, value) => (valueOf[code] = value))

/** Digits are converted in pairs: 62^2 times 2^16 still fits 32-bit integers, which makes it several times faster. */
const pairBase = 62 ** 2

/**
 * The bytes as a number of exactly `length` digits, padded with 0.
 * @throws RangeError when the number has more digits than that
 */
export const encodeBase62 = (bytes: Uint8Array, length: number): string => {
  const limbs = limbsOf(bytes)
  const digits = Buffer.allocUnsafe(length)
  let first = 0
  for (let end = length; end > 0; end -= 2) {
    while (first < limbs.length && limbs[first] === 0) first += 1
    let pair = 0
    for (let index = first; index < limbs.length; index += 1) {
      const value = (pair << 16) | (limbs[index] ?? 0)
      const quotient = (value / pairBase) | 0
      limbs[index] = quotient
      pair = value - quotient * pairBase
    }
    const high = (pair / 62) | 0
    digits[end - 1] = digitCodes[pair - high * 62] ?? 0
    if (end > 1) digits[end - 2] = digitCodes[high] ?? 0
    else if (high > 0) throw new RangeError('the number has more digits than asked for')
  }
  if (limbs.some((limb) => limb !== 0)) throw new RangeError('the number has more digits than asked for')
  return digits.toString('latin1')
}

/** A whole number of at most 53 bits, as `encodeBase62` would write it. */
export const base62OfNumber = (number: number, length: number): string => {
  let rest = number
  let text = ''
  for (let digit = 0; digit < length; digit += 1) {
    const quotient = Math.floor(rest / 62)
    text = alphabet.charAt(rest - quotient * 62) + text
    rest = quotient
  }
  if (rest > 0) throw new RangeError('the number has more digits than asked for')
  return text
}

/** The number that the digits stand for, in this many bytes; null when it is not base62 or does not fit. */
export const decodeBase62 = (text: string, byteLength: number): Uint8Array | null => {
  const limbs = new Uint16Array((byteLength + 1) >> 1)
  for (let position = text.length & 1 ? -1 : 0; position < text.length; position += 2) {
    const high = position < 0 ? 0 : (valueOf[text.charCodeAt(position)] ?? -1)
    const low = valueOf[text.charCodeAt(position + 1)] ?? -1
    if (high < 0 || low < 0) return null
    let carry = high * 62 + low
    for (let index = limbs.length - 1; index >= 0; index -= 1) {
      const value = (limbs[index] ?? 0) * pairBase + carry
      limbs[index] = value
      carry = value >> 16
    }
    if (carry > 0) return null
  }
  return bytesOf(limbs, byteLength)
}

/** The number that the digits stand for from a position on, exact up to 53 bits; NaN when they are not base62. */
export const numberOfBase62 = (text: string, from: number = 0): number => {
  let number = 0
  for (let index = from; index < text.length; index += 1) {
    const value = valueOf[text.charCodeAt(index)] ?? -1
    if (value < 0) return Number.NaN
    number = number * 62 + value
  }
  return number
}

/** The codes of the digits, by their value: what digits are drawn from. */
export const base62Codes: ArrayLike<number> = digitCodes

/** Whether the text, from a position on, has nothing but base62 digits. */
export const isBase62 = (text: string, from: number = 0): boolean => {
  for (let index = from; index < text.length; index += 1) {
    if ((valueOf[text.charCodeAt(index)] ?? -1) < 0) return false
  }
  return true
}

/** The bytes as 16-bit digits; an odd first byte is one of its own. */
const limbsOf = (bytes: Uint8Array): Uint16Array => {
  const odd = bytes.length & 1
  const limbs = new Uint16Array((bytes.length + odd) >> 1)
  for (let index = 0; index < limbs.length; index += 1) {
    const low = 2 * index + 1 - odd
    limbs[index] = ((bytes[low - 1] ?? 0) << 8) | (bytes[low] ?? 0)
  }
  return limbs
}

/** The bytes of 16-bit digits; null when an odd first byte does not hold the first digit. */
const bytesOf = (limbs: Uint16Array, length: number): Uint8Array | null => {
  const odd = length & 1
  if (odd === 1 && (limbs[0] ?? 0) > 0xff) return null
  const bytes = new Uint8Array(length)
  for (let index = 0; index < limbs.length; index += 1) {
    const limb = limbs[index] ?? 0
    const low = 2 * index + 1 - odd
    if (low > 0) bytes[low - 1] = limb >> 8
    bytes[low] = limb
  }
  return bytes
}
