import { crc32, deflateSync } from 'node:zlib'

// Images for tests, put together part by part.

const join = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.concat(parts))
const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const big = (...numbers: readonly number[]): Uint8Array =>
  join(...numbers.map((number) => Uint8Array.of(number >>> 24, number >>> 16, number >>> 8, number)))
const little = (number: number): Uint8Array => big(number).toReversed()

export const pngChunk = (name: string, content: Uint8Array = new Uint8Array()): Uint8Array => {
  const named = join(latin(name), content)
  return join(big(content.length), named, big(crc32(named)))
}
const pngHeader = (width: number, height: number): Uint8Array =>
  pngChunk('IHDR', join(big(width, height), Uint8Array.of(8, 2, 0, 0, 0)))
/** A picture in one colour, which browsers draw. */
const pngPixels = (width: number, height: number, colour: readonly [number, number, number]): Uint8Array => {
  const line = Uint8Array.from([0, ...Array.from({ length: width }, () => colour).flat()])
  return pngChunk('IDAT', deflateSync(join(...Array.from({ length: height }, () => line))))
}
type Colour = readonly [number, number, number]
export const png = (width = 128, height = width, colour: Colour = [30, 120, 200], ...more: readonly Uint8Array[]) =>
  join(
    latin('\x89PNG\r\n\x1a\n'),
    pngHeader(width, height),
    ...more,
    pngPixels(width, height, colour),
    pngChunk('IEND'),
  )

export const jpegSegment = (marker: number, ...content: readonly Uint8Array[]): Uint8Array => {
  const all = join(...content)
  return join(Uint8Array.of(0xff, marker, (all.length + 2) >> 8, all.length + 2), all)
}
const jfif = jpegSegment(0xe0, latin('JFIF\0'), Uint8Array.of(1, 1, 0, 0, 1, 0, 1, 0, 0))
const scan = (...entropy: readonly number[]): Uint8Array =>
  join(jpegSegment(0xda, Uint8Array.of(1, 1, 0, 0, 63, 0)), Uint8Array.from(entropy))
/** The structure of a grey JPEG. Its pixels mean nothing. */
export const jpeg = (width = 128, height = width, ...more: readonly Uint8Array[]) =>
  join(
    Uint8Array.of(0xff, 0xd8),
    jfif,
    jpegSegment(0xdb, new Uint8Array(65)),
    jpegSegment(0xc0, Uint8Array.of(8, height >> 8, height, width >> 8, width, 1, 1, 0x11, 0)),
    jpegSegment(0xc4, new Uint8Array(17)),
    ...more,
    scan(1, 2, 0xff, 0, 3, 0xff, 0xd0, 4),
    Uint8Array.of(0xff, 0xd9),
  )

export const webpChunk = (name: string, content: Uint8Array): Uint8Array =>
  join(latin(name), little(content.length), content, new Uint8Array(content.length % 2))
const riff = (...chunks: readonly Uint8Array[]) => {
  const all = join(latin('WEBP'), ...chunks)
  return join(latin('RIFF'), little(all.length), all)
}
const lossy = (width: number, height: number): Uint8Array =>
  webpChunk('VP8 ', join(Uint8Array.of(0x10, 0, 0, 0x9d, 1, 0x2a, width, width >> 8, height, height >> 8, 7)))
const lossless = (width: number, height: number): Uint8Array =>
  webpChunk('VP8L', join(Uint8Array.of(0x2f), little((width - 1) | ((height - 1) << 14)), new Uint8Array(6)))
const extended = (flags: number, width: number, height: number): Uint8Array =>
  webpChunk(
    'VP8X',
    join(Uint8Array.of(flags, 0, 0, 0), little(width - 1).subarray(0, 3), little(height - 1).subarray(0, 3)),
  )
export const webp = { riff, lossy, lossless, extended } as const
