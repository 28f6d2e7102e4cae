import { crc32 as crc32Of } from 'node:zlib'

/** CRC-32 (ISO-HDLC, as in zlib) of the first `length` characters of an ASCII text. */
export const crc32 = (text: string, length: number = text.length): number =>
  crc32Of(length === text.length ? text : text.slice(0, length))
