import { crc32, inflateRawSync } from 'node:zlib'

/**
 * Reads one file of a ZIP archive that somebody sent (APPNOTE.TXT 6.3.10). Nothing else is unpacked. Sizes in an archive may
 * be wrong, so each is checked before it is used, and unpacking stops at `limitBytes`.
 */

type ArchivedFile =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly paths: readonly string[] }
  | { readonly kind: 'missing'; readonly paths: readonly string[] }
  | { readonly kind: 'no archive' }
  | { readonly kind: 'refused'; readonly sentence: string }

/** The most that an archive may unpack to. One that unpacks to more is meant to fill the disk of whoever opens it. */
const unpackedLimitBytes = 512 * 1024 * 1024

/**
 * The file with this name in the outermost folder of the archive, and the paths of all files. If the archive has a single
 * folder, as those of GitHub and macOS have, that is the outermost one.
 */
export const readArchivedFile = (archive: Uint8Array, name: string, limitBytes: number): ArchivedFile => {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength)
  const end = findEnd(view)
  if (end === null) return startsLikeArchive(view) ? refused(broken) : { kind: 'no archive' }
  const entries = entriesOf(archive, view, end)
  if (typeof entries === 'string') return refused(entries)
  const paths = entries.map(({ path }) => path)
  const found = entries.filter(({ path }) => path === outermost(paths, name))
  if (found.length > 1) return refused(`The archive has ${name} twice.`)
  const [entry] = found
  if (entry === undefined) return { kind: 'missing', paths }
  const bytes = unpack(archive, view, entry, limitBytes)
  return typeof bytes === 'string' ? refused(`${name} ${bytes}`) : { kind: 'file', bytes, paths }
}

const refused = (sentence: string): ArchivedFile => ({ kind: 'refused', sentence })
const broken = 'The archive is incomplete or damaged. Pack it again.'

type Entry = {
  readonly path: string
  readonly isEncrypted: boolean
  readonly method: number
  readonly crc: number
  readonly packedBytes: number
  readonly unpackedBytes: number
  readonly offset: number
}

const signatures = { file: 0x04034b50, entry: 0x02014b50, end: 0x06054b50 } as const
const headerBytes = { file: 30, entry: 46, end: 22 } as const
const longestComment = 0xffff

const startsLikeArchive = (view: DataView): boolean =>
  view.byteLength >= 4 && view.getUint32(0, true) === signatures.file

/** The position of the end record, whose comment must reach to the end of the file; null if there is none. */
const findEnd = (view: DataView): number | null => {
  const last = view.byteLength - headerBytes.end
  for (let at = last; at >= Math.max(0, last - longestComment); at -= 1) {
    if (view.getUint32(at, true) === signatures.end && view.getUint16(at + 20, true) === last - at) return at
  }
  return null
}

/** What the central directory lists, without folders; a sentence if it cannot be trusted. */
const entriesOf = (archive: Uint8Array, view: DataView, end: number): readonly Entry[] | string => {
  const count = view.getUint16(end + 10, true)
  const size = view.getUint32(end + 12, true)
  let at = view.getUint32(end + 16, true)
  if (at === 0xffffffff || count === 0xffff) return 'The archive has the format ZIP64. Pack fewer or smaller files.'
  if (at + size > end) return broken
  const entries: Entry[] = []
  let packed = 0
  let unpacked = 0
  for (let index = 0; index < count; index += 1) {
    if (at + headerBytes.entry > end || view.getUint32(at, true) !== signatures.entry) return broken
    const nameBytes = view.getUint16(at + 28, true)
    const next = at + headerBytes.entry + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
    if (next > end) return broken
    const entry: Entry = {
      path: new TextDecoder().decode(archive.subarray(at + headerBytes.entry, at + headerBytes.entry + nameBytes)),
      isEncrypted: (view.getUint16(at + 8, true) & 1) === 1,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packedBytes: view.getUint32(at + 20, true),
      unpackedBytes: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    }
    packed += entry.packedBytes
    unpacked += entry.unpackedBytes
    if (!entry.path.endsWith('/')) entries.push(entry)
    at = next
  }
  // Files that share their packed bytes would take more than there are.
  if (packed > archive.length) return broken
  return unpacked > unpackedLimitBytes ? 'The archive unpacks to more than 512 MiB.' : entries
}

/** What macOS adds to archives. */
const isAdded = (path: string): boolean => path.startsWith('__MACOSX/') || path.endsWith('.DS_Store')

const outermost = (paths: readonly string[], name: string): string => {
  if (paths.includes(name)) return name
  const [first = '', ...others] = new Set(
    paths.filter((path) => !isAdded(path)).map((path) => path.split('/')[0] ?? ''),
  )
  return others.length === 0 ? `${first}/${name}` : name
}

/** The content of a file; the rest of a sentence about it if it cannot be read. */
const unpack = (archive: Uint8Array, view: DataView, entry: Entry, limitBytes: number): Uint8Array | string => {
  const { offset, packedBytes, unpackedBytes, method } = entry
  if (entry.isEncrypted) return 'is encrypted. Pack it without a password.'
  if (unpackedBytes > limitBytes) return `is larger than ${limitBytes / 1024} KiB.`
  if (offset + headerBytes.file > archive.length || view.getUint32(offset, true) !== signatures.file) return unreadable
  const start = offset + headerBytes.file + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
  const packed = archive.subarray(start, start + packedBytes)
  if (method !== 0 && method !== 8) return 'is packed in an unusual way. Pack it with Deflate.'
  const bytes = method === 0 ? packed : inflated(packed, unpackedBytes)
  return bytes?.length === unpackedBytes && crc32(bytes) === entry.crc ? bytes : unreadable
}

const unreadable = 'is damaged in the archive. Pack it again.'

/** Null if it is not Deflate or gives more than it should. */
const inflated = (packed: Uint8Array, maxOutputLength: number): Uint8Array | null => {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, maxOutputLength) })
  } catch {
    return null
  }
}
