import { expect, test } from 'bun:test'
import { checkIcon, iconLimits, type IconType } from '../../src/domain/app-icon.ts'
import { jpeg, jpegSegment, png, pngChunk, webp, webpChunk } from '../support/icons.ts'

const text = (words: string): Uint8Array => new TextEncoder().encode(words)
const and = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))
/** The chunks go between the header and the pixels. */
const pngWith = (...chunks: readonly Uint8Array[]) => png(128, 128, [0, 0, 0], ...chunks)
const jpegWith = (...segments: readonly Uint8Array[]) => jpeg(128, 128, ...segments)
const sentenceOf = (bytes: Uint8Array): string => {
  const checked = checkIcon(bytes)
  return checked.kind === 'icon' ? checked.type : checked.sentence
}
const { riff, lossy, lossless, extended } = webp
const alpha = webpChunk('ALPH', Uint8Array.of(0, 1, 2))

const images: Readonly<Record<string, readonly [bytes: Uint8Array, type: IconType]>> = {
  'a PNG': [png(), 'image/png'],
  'the largest PNG': [png(1024), 'image/png'],
  'a PNG with the chunks that draw it': [
    pngWith(
      pngChunk('sRGB', Uint8Array.of(0)),
      pngChunk('pHYs', new Uint8Array(9)),
      pngChunk('PLTE', new Uint8Array(6)),
      pngChunk('tRNS', new Uint8Array(2)),
    ),
    'image/png',
  ],
  'a PNG whose pixels come in parts': [pngWith(pngChunk('IDAT', new Uint8Array(5))), 'image/png'],
  'a JPEG': [jpeg(), 'image/jpeg'],
  'a JPEG with several tables in one segment, restarts and the transform of Adobe': [
    jpegWith(
      jpegSegment(0xdb, new Uint8Array(130)),
      jpegSegment(0xdd, new Uint8Array(2)),
      jpegSegment(0xee, text('Adobe'), new Uint8Array(7)),
    ),
    'image/jpeg',
  ],
  'a JPEG of 1,024 pixels': [jpeg(1024), 'image/jpeg'],
  'a lossy WebP': [riff(lossy(128, 128)), 'image/webp'],
  'a lossless WebP': [riff(lossless(1024, 1024)), 'image/webp'],
  'an extended WebP with alpha': [riff(extended(0x10, 256, 256), alpha, lossy(256, 256)), 'image/webp'],
}
for (const [name, [bytes, type]] of Object.entries(images)) {
  test(`${name} is an icon`, () => expect(checkIcon(bytes)).toEqual({ kind: 'icon', type }))
}

const otherFile = 'The icon must be a PNG, JPEG or WebP image.'
const notSquare = 'The icon must be square.'
const otherSize = 'The icon must have 128 to 1,024 pixels on each side.'
const hasMetadata = expect.stringContaining('has metadata')
const isAnimated = expect.stringContaining('is animated')
const hasMore = expect.stringContaining('further bytes after the image')
const isDamaged = expect.stringContaining('incomplete or damaged')

const zip = text('PK\x03\x04 and the rest of an archive')
const script = text('<script>alert(1)</script>')
const refused: Readonly<Record<string, readonly [bytes: Uint8Array, sentence: unknown]>> = {
  'an empty file': [new Uint8Array(), otherFile],
  'an SVG': [
    text('<svg xmlns="http://www.w3.org/2000/svg" width="128" height="128"><script>1</script></svg>'),
    otherFile,
  ],
  'an SVG after the declaration of XML': [text('<?xml version="1.0"?><svg/>'), otherFile],
  'a page': [script, otherFile],
  'a GIF': [text('GIF89a'), otherFile],
  'an AVIF': [and(new Uint8Array(4), text('ftypavif')), otherFile],
  'a PNG after other bytes': [and(script, png()), otherFile],
  'a sound in the container of WebP': [text('RIFF\0\0\0\0WAVE'), otherFile],
  'more than 512 KiB': [
    pngWith(pngChunk('IDAT', new Uint8Array(iconLimits.bytes))),
    'The icon is larger than 512 KiB.',
  ],
  'a PNG of 128 by 129': [png(128, 129), notSquare],
  'a PNG of 127 pixels': [png(127), otherSize],
  'a PNG of 1,025 pixels': [png(1025), otherSize],
  'a JPEG of 256 by 128': [jpeg(256, 128), notSquare],
  'a JPEG of 64 pixels': [jpeg(64), otherSize],
  'a JPEG of 65,535 pixels': [jpeg(65_535), otherSize],
  'a WebP of 200 by 100': [riff(lossy(200, 100)), notSquare],
  'a WebP of 16,383 pixels': [riff(lossless(16_383, 16_383)), otherSize],
  'a PNG before an archive': [and(png(), zip), hasMore],
  'a JPEG before an archive': [and(jpeg(), zip), hasMore],
  'a WebP before a page': [and(riff(lossy(128, 128)), script), hasMore],
  'a PNG twice': [and(png(), png()), hasMore],
  'an animated PNG': [pngWith(pngChunk('acTL', new Uint8Array(8))), isAnimated],
  'an animated WebP': [riff(extended(0x02, 128, 128), webpChunk('ANIM', new Uint8Array(6))), isAnimated],
  'a WebP with a frame': [riff(extended(0, 128, 128), webpChunk('ANMF', new Uint8Array(16))), isAnimated],
  'a JPEG with EXIF': [jpegWith(jpegSegment(0xe1, text('Exif\0\0'))), hasMetadata],
  'a JPEG with a profile': [jpegWith(jpegSegment(0xe2, text('ICC_PROFILE\0'))), hasMetadata],
  'a JPEG with a comment': [jpegWith(jpegSegment(0xfe, script)), hasMetadata],
  'a JPEG with a thumbnail': [jpegWith(jpegSegment(0xe0, text('JFIF\0'), new Uint8Array(12))), hasMetadata],
  'a JPEG with more than the transform of Adobe': [jpegWith(jpegSegment(0xee, text('Adobe'), script)), hasMetadata],
  'a WebP with EXIF': [riff(extended(0, 128, 128), lossy(128, 128), webpChunk('EXIF', script)), hasMetadata],
  'a WebP that announces XMP': [riff(extended(0x04, 128, 128), lossy(128, 128)), hasMetadata],
  'a WebP with an unknown chunk': [riff(lossy(128, 128), webpChunk('text', script)), hasMetadata],
  'a PNG with a text in a chunk of colours': [pngWith(pngChunk('gAMA', script)), isDamaged],
  'a PNG with two palettes': [
    pngWith(pngChunk('PLTE', new Uint8Array(3)), pngChunk('PLTE', new Uint8Array(3))),
    isDamaged,
  ],
  'a PNG with something between its pixels': [pngWith(pngChunk('IDAT'), pngChunk('sRGB', Uint8Array.of(0))), isDamaged],
  'a PNG without pixels': [and(png().subarray(0, 33), pngChunk('IEND')), isDamaged],
  'a PNG that begins with another chunk': [and(png().subarray(0, 8), pngChunk('IDAT'), png().subarray(8)), isDamaged],
  'a PNG that announces 4 GiB': [
    and(png().subarray(0, 33), Uint8Array.of(255, 255, 255, 255), text('IDAT')),
    isDamaged,
  ],
  'a JPEG with a page in a table': [jpegWith(jpegSegment(0xdb, script)), isDamaged],
  'a JPEG with bytes after its tables': [jpegWith(jpegSegment(0xc4, new Uint8Array(18))), isDamaged],
  'a JPEG with two sizes': [jpegWith(jpegSegment(0xc0, Uint8Array.of(8, 1, 0, 1, 0, 1, 1, 0x11, 0))), isDamaged],
  'a JPEG in CMYK': [
    and(Uint8Array.of(0xff, 0xd8), jpegSegment(0xc0, Uint8Array.of(8, 0, 128, 0, 128, 4), new Uint8Array(12))),
    isDamaged,
  ],
  'a WebP with two images': [riff(lossy(128, 128), lossy(128, 128)), isDamaged],
  'a WebP whose header has another size': [riff(extended(0, 256, 256), lossy(128, 128)), isDamaged],
  'a WebP with a text in its padding': [
    riff(lossy(128, 128)).map((byte, index, all) => (index === all.length - 1 ? 65 : byte)),
    isDamaged,
  ],
}
for (const [name, [bytes, sentence]] of Object.entries(refused)) {
  test(`${name} is refused`, () => expect(sentenceOf(bytes)).toEqual(sentence as string))
}

test('no other chunk of a PNG is taken', () => {
  for (const name of [
    'tEXt',
    'zTXt',
    'iTXt',
    'eXIf',
    'iCCP',
    'tIME',
    'hIST',
    'sPLT',
    'npTc',
    'vpAg',
    'AAAA',
    'constructor'.slice(0, 4),
  ]) {
    expect(sentenceOf(pngWith(pngChunk(name, script)))).toEqual(hasMetadata)
  }
})

test('no other segment of a JPEG is taken', () => {
  const taken = new Set([0xc0, 0xc1, 0xc2, 0xc4, 0xd9, 0xda, 0xdb, 0xdd, 0xe0, 0xee])
  for (let marker = 0; marker < 256; marker += 1) {
    if (!taken.has(marker)) expect(sentenceOf(jpegWith(jpegSegment(marker, script)))).toMatch(/metadata|damaged/)
  }
})

test('an image that is cut anywhere is refused, and one with a changed byte gives an answer', () => {
  const whole = [png(), jpeg(), riff(lossy(128, 128)), riff(extended(0x10, 128, 128), alpha, lossy(128, 128))]
  for (const image of whole) {
    for (let length = 0; length < image.length; length += 1) {
      expect(checkIcon(image.subarray(0, length)).kind).toBe('refused')
      for (const bits of [1, 0x80, 0xff]) {
        const changed = image.map((byte, index) => (index === length ? byte ^ bits : byte))
        expect(['icon', 'refused']).toContain(checkIcon(changed).kind)
      }
    }
  }
})
