/** Base62 with the alphabet 0-9A-Za-z, most significant digit first, so that text sorts as its bytes do (contract §2). */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const valueOf = new Int8Array(128).fill(-1)
for (let value = 0; value < 62; value += 1) valueOf[alphabet.charCodeAt(value)] = value

/** Digits are cut off five at a time: 62^5 times 2^16 is still an exact number. */
const chunkDigits = 5
const chunkBase = 62 ** chunkDigits

/** The bytes as a number of exactly `length` digits, padded with 0; more significant digits are lost. */
export const encodeBase62 = (bytes: Uint8Array, length: number): string => {
  const limbs = limbsOf(bytes)
  let text = ''
  while (text.length < length) {
    let remainder = 0
    for (let index = 0; index < limbs.length; index += 1) {
      const value = remainder * 65_536 + (limbs[index] ?? 0)
      const quotient = Math.floor(value / chunkBase)
      limbs[index] = quotient
      remainder = value - quotient * chunkBase
    }
    let chunk = ''
    for (let digit = 0; digit < chunkDigits; digit += 1) {
      chunk = alphabet.charAt(remainder % 62) + chunk
      remainder = Math.floor(remainder / 62)
    }
    text = chunk + text
  }
  return text.slice(text.length - length)
}

/** The number that the digits stand for, in so many bytes; null when it is not base62 or does not fit. */
export const decodeBase62 = (text: string, byteLength: number): Uint8Array | null => {
  const bytes = new Uint8Array(byteLength)
  for (let position = 0; position < text.length; position += 1) {
    let carry = valueOf[text.charCodeAt(position)] ?? -1
    if (carry < 0) return null
    for (let index = byteLength - 1; index >= 0; index -= 1) {
      const value = (bytes[index] ?? 0) * 62 + carry
      bytes[index] = value & 0xff
      carry = value >> 8
    }
    if (carry > 0) return null
  }
  return bytes
}

export const isBase62 = (text: string): boolean => {
  for (let index = 0; index < text.length; index += 1) {
    if ((valueOf[text.charCodeAt(index)] ?? -1) < 0) return false
  }
  return true
}

const limbsOf = (bytes: Uint8Array): number[] => {
  const limbs: number[] = []
  const odd = bytes.length % 2
  if (odd === 1) limbs.push(bytes[0] ?? 0)
  for (let index = odd; index < bytes.length; index += 2) {
    limbs.push((bytes[index] ?? 0) * 256 + (bytes[index + 1] ?? 0))
  }
  return limbs
}
