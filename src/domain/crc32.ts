const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** CRC-32 (ISO-HDLC, as in zlib) of the first `length` characters of an ASCII text. */
export const crc32 = (text: string, length: number = text.length): number => {
  let value = 0xffffffff
  for (let index = 0; index < length; index += 1) {
    value = (value >>> 8) ^ (table[(value ^ text.charCodeAt(index)) & 0xff] ?? 0)
  }
  return ~value >>> 0
}
