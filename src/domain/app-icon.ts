import { hash } from 'bun'

/**
 * Checks the icon of an app by the structure of the file. Pixels are never decoded here: browsers do that, in a sandbox. What is
 * stored has only what draws the image: every part of the file is one that is named below, and together they are the whole file.
 * So an icon carries no metadata, no animation and no other file, and it is square and small.
 */

export const iconLimits = { bytes: 512 * 1024, fewestPixels: 128, mostPixels: 1024 } as const

export type IconType = 'image/png' | 'image/jpeg' | 'image/webp'

/** An image that may be an icon, or why it may not: a sentence. */
type CheckedIcon =
  { readonly kind: 'icon'; readonly type: IconType } | { readonly kind: 'refused'; readonly sentence: string }

/** Width and height in pixels; a sentence if the file has something else than an image. */
type Structure = readonly [width: number, height: number] | string

export const checkIcon = (bytes: Uint8Array): CheckedIcon => {
  if (bytes.length > iconLimits.bytes) return refused('The icon is larger than 512 KiB.')
  const type = iconTypeOf(bytes)
  if (type === null) return refused('The icon must be a PNG, JPEG or WebP image.')
  const structure = structures[type](bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  if (typeof structure === 'string') return refused(structure)
  const [width, height] = structure
  if (width !== height) return refused('The icon must be square.')
  return width < iconLimits.fewestPixels || width > iconLimits.mostPixels
    ? refused('The icon must have 128 to 1,024 pixels on each side.')
    : { kind: 'icon', type }
}

/** The type of an image by its first bytes; null for everything else. */
export const iconTypeOf = (bytes: Uint8Array): IconType | null => {
  if (textAt(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png'
  if (textAt(bytes, 0, 3) === '\xff\xd8\xff') return 'image/jpeg'
  return textAt(bytes, 0, 4) === 'RIFF' && textAt(bytes, 8, 4) === 'WEBP' ? 'image/webp' : null
}

const refused = (sentence: string): CheckedIcon => ({ kind: 'refused', sentence })
const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  Buffer.from(bytes.subarray(at, at + length)).toString('latin1')

const damaged = 'The icon is incomplete or damaged. Save it again.'
const trailing = 'The icon has further bytes after the image. Save it again.'
const animated = 'The icon is animated. Save a single picture.'
const metadata =
  'The icon has metadata, such as a text, EXIF or a colour profile. Save it without, in the colours of sRGB.'

/**
 * The chunks of a PNG (third edition, section 11) that may be there, each with the most bytes that it can have. `IDAT` is the only one
 * that may come several times. Texts, times, EXIF and ICC profiles are not among them, nor is what browsers ignore.
 */
const pngChunks: Readonly<Record<string, number>> = {
  IHDR: 13,
  PLTE: 3 * 256,
  IDAT: Number.POSITIVE_INFINITY,
  IEND: 0,
  tRNS: 256,
  cHRM: 32,
  cICP: 4,
  gAMA: 4,
  sBIT: 4,
  sRGB: 1,
  bKGD: 6,
  pHYs: 9,
}
const pngAnimation: ReadonlySet<string> = new Set(['acTL', 'fcTL', 'fdAT'])

const pngStructure = (bytes: Uint8Array, view: DataView): Structure => {
  const seen = new Set<string>()
  let last = ''
  for (let at = 8; last !== 'IEND';) {
    if (at + 12 > bytes.length) return damaged
    const length = view.getUint32(at)
    const name = textAt(bytes, at + 4, 4)
    const next = at + 12 + length
    if (next > bytes.length || (last === '' && name !== 'IHDR')) return damaged
    if (pngAnimation.has(name)) return animated
    const most = Object.hasOwn(pngChunks, name) ? pngChunks[name] : undefined
    if (most === undefined) return metadata
    const isAgain = seen.has(name) && !(name === 'IDAT' && last === 'IDAT')
    if (length > most || isAgain || hash.crc32(bytes.subarray(at + 4, next - 4)) !== view.getUint32(next - 4))
      return damaged
    seen.add(name)
    last = name
    at = next
    if (last === 'IEND' && at < bytes.length) return trailing
  }
  return seen.has('IDAT') && view.getUint32(8) === 13 ? [view.getUint32(16), view.getUint32(20)] : damaged
}

/**
 * The segments of a JPEG (ITU T.81, table B.1) that may be there: tables, frames of eight bits that browsers draw (baseline, extended
 * and progressive), scans, JFIF without a thumbnail, and the colour transform of Adobe. Comments and all other `APPn` are metadata.
 */
const jpeg = {
  quantization: 0xdb,
  huffman: 0xc4,
  restarts: 0xdd,
  scan: 0xda,
  end: 0xd9,
  jfif: 0xe0,
  adobe: 0xee,
} as const
const jpegFrames: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2])
const isJpegMetadata = (marker: number): boolean => (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe

const jpegStructure = (bytes: Uint8Array, view: DataView): Structure => {
  let size: readonly [number, number] | null = null
  let hasScan = false
  for (let at = 2; ;) {
    if (at + 2 > bytes.length || bytes[at] !== 0xff) return damaged
    const marker = bytes[at + 1] ?? 0
    if (marker === jpeg.end) {
      if (at + 2 < bytes.length) return trailing
      return size !== null && hasScan ? size : damaged
    }
    const length = at + 4 > bytes.length ? 0 : view.getUint16(at + 2)
    const segment = bytes.subarray(at + 4, at + 2 + length)
    if (length < 2 || segment.length !== length - 2) return damaged
    at += 2 + length
    if (jpegFrames.has(marker)) {
      const components = segment[5] ?? 0
      const isSound = size === null && segment[0] === 8 && [1, 3].includes(components)
      if (!isSound || segment.length !== 6 + 3 * components) return damaged
      size = [view.getUint16(at - segment.length + 3), view.getUint16(at - segment.length + 1)]
    } else if (marker === jpeg.scan) {
      if (size === null || segment.length !== 4 + 2 * (segment[0] ?? 0)) return damaged
      hasScan = true
      at = endOfScan(bytes, at)
    } else if (!isJpegTable(marker, segment)) {
      return isJpegMetadata(marker) ? metadata : damaged
    }
  }
}

/** Where the next marker is. In a scan 0xFF is followed by zero, or it restarts the scan. */
const endOfScan = (bytes: Uint8Array, start: number): number => {
  for (let at = start; ; at += 1) {
    at = bytes.indexOf(0xff, at)
    if (at === -1) return bytes.length
    const next = bytes[at + 1] ?? -1
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at
  }
}

/** Whether a segment is one of those without pixels, and has nothing besides what it is for. */
const isJpegTable = (marker: number, segment: Uint8Array): boolean => {
  switch (marker) {
    case jpeg.quantization:
      return isFilledBy(segment, (at) => ((segment[at] ?? 0) >> 4 === 0 ? 65 : 129))
    case jpeg.huffman:
      return isFilledBy(segment, (at) => segment.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 17))
    case jpeg.restarts:
      return segment.length === 2
    case jpeg.jfif:
      return textAt(segment, 0, 5) === 'JFIF\0' && segment.length === 14
    case jpeg.adobe:
      return textAt(segment, 0, 5) === 'Adobe' && segment.length === 12
    default:
      return false
  }
}

/** Whether tables of these lengths take the whole segment. */
const isFilledBy = (segment: Uint8Array, lengthAt: (at: number) => number): boolean => {
  let at = 0
  while (at < segment.length) at += lengthAt(at)
  return at > 0 && at === segment.length
}

/**
 * The chunks of a WebP (RFC 9649): one image, lossy or lossless, alone or after the extended header, which may only say that there is
 * alpha. An ICC profile, EXIF, XMP, animations and unknown chunks are refused.
 */
const webpStructure = (bytes: Uint8Array, view: DataView): Structure => {
  const end = bytes.length < 12 ? 0 : 8 + view.getUint32(4, true)
  if (end > bytes.length) return damaged
  if (end < bytes.length) return trailing
  const names: string[] = []
  const sizes: (readonly [number, number])[] = []
  for (let at = 12; at < end;) {
    if (at + 8 > end) return damaged
    const name = textAt(bytes, at, 4)
    const length = view.getUint32(at + 4, true)
    const content = bytes.subarray(at + 8, at + 8 + length)
    const next = at + 8 + length + (length % 2)
    if (next > end || (length % 2 === 1 && bytes[next - 1] !== 0)) return damaged
    if (name === 'ANIM' || name === 'ANMF') return animated
    if (!webpChunks.has(name)) return metadata
    if (name !== 'ALPH') {
      const read = webpSize(name, content)
      if (typeof read === 'string') return read
      sizes.push(read)
    }
    names.push(name)
    at = next
  }
  const [first, second = first] = sizes
  if (first === undefined || !webpOrders.has(names.join(' '))) return damaged
  return first[0] === second?.[0] && first[1] === second[1] ? first : damaged
}

const webpChunks: ReadonlySet<string> = new Set(['VP8X', 'ALPH', 'VP8 ', 'VP8L'])
const webpOrders: ReadonlySet<string> = new Set(['VP8 ', 'VP8L', 'VP8X VP8 ', 'VP8X VP8L', 'VP8X ALPH VP8 '])

const webpSize = (name: string, content: Uint8Array): Structure => {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
  if (content.length < 10) return damaged
  if (name === 'VP8X') {
    const [flags = 0] = content
    if ((flags & 0x02) !== 0) return animated
    // Only the bit for alpha; the others announce a profile, EXIF or XMP, or are reserved.
    if ((flags & ~0x10) !== 0) return metadata
    const sideAt = (at: number): number => 1 + (view.getUint32(at, true) & 0xffffff)
    return content.length === 10 && textAt(content, 1, 3) === '\0\0\0'
      ? [sideAt(4), 1 + (view.getUint32(6, true) >>> 8)]
      : damaged
  }
  if (name === 'VP8L') {
    const bits = view.getUint32(1, true)
    return content[0] === 0x2f && bits >>> 29 === 0 ? [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)] : damaged
  }
  // A key frame that is shown, its start code, and the sides with two bits for scaling, which browsers ignore.
  const isKeyFrame = ((content[0] ?? 1) & 0x11) === 0x10 && textAt(content, 3, 3) === '\x9d\x01\x2a'
  const sides = [view.getUint16(6, true), view.getUint16(8, true)] as const
  return isKeyFrame && sides.every((side) => side < 0x4000) ? sides : damaged
}

const structures = {
  'image/png': pngStructure,
  'image/jpeg': jpegStructure,
  'image/webp': webpStructure,
} as const satisfies Record<IconType, (bytes: Uint8Array, view: DataView) => Structure>

/** Where the icon with this SHA-256 is served. */
export const iconPath = <Sum extends string>(sha256: Sum) => `/icons/${sha256}` as const

/** The address of the icon of a live version, while its app is active; else null. */
export const shownIcon = (of: {
  readonly status: 'active' | 'suspended'
  readonly iconSha256: Uint8Array | null
}): string | null =>
  of.status === 'active' && of.iconSha256 !== null ? iconPath(Buffer.from(of.iconSha256).toString('hex')) : null
