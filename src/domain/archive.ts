import { crc32, inflateRawSync } from 'node:zlib'
import { isSecretName, type PathFault, pathFaults } from './archive-path.ts'
import { visibleText } from './text.ts'

/**
 * Reads a ZIP archive that somebody sent (APPNOTE.TXT 6.3.10): one file of it, or what its directory lists. Nothing else is unpacked.
 * Sizes in an archive may be wrong, so each is checked before it is used, and unpacking stops at `limitBytes`.
 */

type ArchivedFile =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly place: ArchivedPlace }
  | { readonly kind: 'missing' }
  | { readonly kind: 'no archive' }
  | { readonly kind: 'refused'; readonly sentence: string }

/** Where the packed bytes of a file are in its archive, so that it can be read again without the rest. */
export type ArchivedPlace = { readonly offset: number; readonly packedBytes: number; readonly isDeflated: boolean }

export const archiveLimits = {
  /** The most that an archive may unpack to. One that unpacks to more is meant to fill the disk of whoever opens it. */
  unpackedBytes: 512 * 1024 * 1024,
  /** The most files and folders. Reading the list of them holds up other requests. */
  entries: 10_000,
} as const
const longestDirectoryBytes = 2 * 1024 * 1024

/** What somebody sent, opened once for all that is read of it. */
export type OpenedArchive =
  | { readonly kind: 'archive'; readonly bytes: Uint8Array; readonly entries: readonly Entry[] }
  /** It begins as an archive does, but has no end. */
  | { readonly kind: 'cut off' }
  | { readonly kind: 'no archive' }
  /** An archive that nobody should unpack. */
  | { readonly kind: 'refused'; readonly sentence: string }

/** Opens what may be an archive. It yields after some of its files: many take some hundred milliseconds. */
export function* openArchive(file: Uint8Array): Generator<undefined, OpenedArchive> {
  const view = viewOf(file)
  const end = findEnd(view)
  if (end === null) return { kind: startsLikeArchive(view) ? 'cut off' : 'no archive' }
  const entries = yield* soundEntries(file, view, end)
  return typeof entries === 'string' ? refused(entries) : { kind: 'archive', bytes: file, entries }
}

/**
 * The file with this name in the outermost folder of the archive. If the archive has a single folder, as those of GitHub and macOS
 * have, that is the outermost one.
 */
export const readArchivedFile = (archive: OpenedArchive, name: string, limitBytes: number): ArchivedFile => {
  if (archive.kind === 'cut off') return refused(broken)
  if (archive.kind !== 'archive') return archive
  const { bytes, entries } = archive
  const place = outermost(
    entries.map(({ path }) => path),
    name,
  )
  const entry = entries.find(({ path }) => path === place)
  if (entry === undefined) return { kind: 'missing' }
  const unpacked = unpack(bytes, viewOf(bytes), entry, limitBytes)
  return typeof unpacked === 'string' ? refused(`The file ${shown(name)} ${unpacked}`) : { kind: 'file', ...unpacked }
}

/** The content of each file that can be read, one at a time. */
export function* unpackedFiles(
  archive: OpenedArchive,
): Generator<{ readonly path: string; readonly bytes: Uint8Array }> {
  if (archive.kind !== 'archive') return
  const view = viewOf(archive.bytes)
  for (const entry of archive.entries) {
    const unpacked = unpack(archive.bytes, view, entry, archiveLimits.unpackedBytes)
    if (typeof unpacked !== 'string') yield { path: entry.path, bytes: unpacked.bytes }
  }
}

/** A file again from its packed bytes; null if it is damaged or longer than the limit. */
export const unpackedAgain = (packed: Uint8Array, place: ArchivedPlace, limitBytes: number): Uint8Array | null =>
  place.isDeflated ? inflated(packed, limitBytes) : packed

/** A file as the directory of its archive describes it, which may be wrong. */
export type ListedFile = {
  /** Below the outermost folder. */
  readonly path: string
  readonly sizeBytes: number
  readonly packed: Uint8Array
  readonly packing: 'none' | 'deflate' | 'unknown'
}

export type ListedArchive =
  | {
      readonly kind: 'files'
      readonly files: readonly ListedFile[]
      /** Whether it begins with something else: other programs may read something else in it. */
      readonly hasOtherBeginning: boolean
    }
  | { readonly kind: 'no archive' }
  | { readonly kind: 'refused'; readonly sentence: string }

/** The files of an archive, whatever their names. It yields after some of them: a long list takes many milliseconds. */
export function* listArchive(archive: Uint8Array): Generator<undefined, ListedArchive> {
  const view = viewOf(archive)
  const end = findEnd(view)
  if (end === null) return startsLikeArchive(view) ? { kind: 'refused', sentence: broken } : { kind: 'no archive' }
  const entries = yield* entriesOf(archive, view, end)
  if (typeof entries === 'string') return { kind: 'refused', sentence: entries }
  const files = entries.filter(({ path }) => !path.endsWith('/'))
  const folder = onlyFolder(files.map(({ path }) => path))
  return {
    kind: 'files',
    hasOtherBeginning: !startsLikeArchive(view),
    files: files.map((entry) => {
      const packing = entry.isEncrypted ? undefined : packings.get(entry.method)
      return {
        path: entry.path.startsWith(folder) ? entry.path.slice(folder.length) : entry.path,
        sizeBytes: entry.unpackedBytes,
        packed: packedOf(archive, view, entry),
        packing: packing ?? 'unknown',
      }
    }),
  }
}

const packings: ReadonlyMap<number, 'none' | 'deflate'> = new Map([
  [0, 'none'],
  [8, 'deflate'],
])

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const refused = (sentence: string) => ({ kind: 'refused', sentence }) as const
const broken = 'The archive is incomplete or damaged. Pack it again.'

type Entry = {
  /** With slashes, also where Windows PowerShell wrote backslashes. That of a folder ends with one. */
  readonly path: string
  /** The path for programs that know the Unicode Path Extra Field (APPNOTE section 4.6.9). */
  readonly otherPath: string | null
  /** Neither a file nor a folder. */
  readonly isSpecial: boolean
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

/** What the central directory lists, without folders; a sentence if it cannot be trusted or unpacked on every system, or holds secrets. */
function* soundEntries(
  archive: Uint8Array,
  view: DataView,
  end: number,
): Generator<undefined, readonly Entry[] | string> {
  const entries = yield* entriesOf(archive, view, end)
  if (typeof entries === 'string') return entries
  const special = entries.find(({ isSpecial }) => isSpecial)
  if (special !== undefined)
    return `The archive has a link or a special file: ${shown(special.path)}. Pack what it leads to instead.`
  const folders = entries.filter(({ path }) => path.endsWith('/'))
  const files = entries.filter(({ path }) => !path.endsWith('/'))
  const paths = [...files.map(({ path }) => path), ...new Set(folders.map(({ path }) => path))]
  yield
  const otherNames = entries.flatMap(({ otherPath }) => (otherPath === null ? [] : [otherPath]))
  const [fault] = [...pathFaults(paths), ...otherNames.flatMap((path) => pathFaults([path]))]
  if (fault !== undefined) return faultSentence(fault)
  yield
  return paths.some(isSecretName) ? secrets : files
}

const secrets =
  'The archive has a file that usually holds secrets, such as .env or a private key. Operators can download it, so leave it out.'

const faultSentence = (fault: PathFault): string => {
  switch (fault.kind) {
    case 'outside':
      return `The archive has a file that would be unpacked outside of its folder: ${shown(fault.path)}. Pack relative paths.`
    case 'odd':
      return `The archive has a name that does not work on every system: ${shown(fault.path)}. Rename it.`
    case 'same':
      return `The archive has two files that are one on some systems: ${shown(fault.path)} and ${shown(fault.other)}. Rename one.`
    default:
      return fault satisfies never
  }
}

/** A path in a sentence, not longer than a line or two. */
const shown = (path: string): string => visibleText(path.length > 200 ? `${path.slice(0, 200)}…` : path)

/** Entries that are read in about a millisecond; in a few if their names are long and not in UTF-8. */
const entriesAtOnce = 100

/** What the central directory lists, folders too; a sentence if it cannot be trusted. */
function* entriesOf(archive: Uint8Array, view: DataView, end: number): Generator<undefined, readonly Entry[] | string> {
  const count = view.getUint16(end + 10, true)
  const size = view.getUint32(end + 12, true)
  let at = view.getUint32(end + 16, true)
  if (at === 0xffffffff || count === 0xffff) return 'The archive has the format ZIP64. Pack fewer or smaller files.'
  if (count > archiveLimits.entries || size > longestDirectoryBytes) {
    return `The archive has too many files: at most ${archiveLimits.entries.toLocaleString('en')}, whose names and folders take 2 MiB together. Pack fewer.`
  }
  if (at + size > end) return broken
  const entries: Entry[] = []
  let packed = 0
  let unpacked = 0
  for (let index = 0; index < count; index += 1) {
    if (index % entriesAtOnce === entriesAtOnce - 1) yield
    if (at + headerBytes.entry > end || view.getUint32(at, true) !== signatures.entry) return broken
    const nameBytes = view.getUint16(at + 28, true)
    const next = at + headerBytes.entry + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
    if (next > end) return broken
    const nameEnd = at + headerBytes.entry + nameBytes
    const name = archive.subarray(at + headerBytes.entry, nameEnd)
    const flags = view.getUint16(at + 8, true)
    const entry: Entry = {
      path: pathOf(name, (flags & 0x800) !== 0),
      otherPath: otherPathIn(archive.subarray(nameEnd, nameEnd + view.getUint16(at + 30, true))),
      isSpecial: !usualTypes.has(view.getUint32(at + 38, true) >>> 28),
      isEncrypted: (flags & 1) === 1,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packedBytes: view.getUint32(at + 20, true),
      unpackedBytes: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    }
    packed += entry.packedBytes
    unpacked += entry.unpackedBytes
    if (!isNamedAgain(archive, view, entry.offset, name)) return broken
    entries.push(entry)
    at = next
  }
  // Files that share their packed bytes would take more than there are.
  if (packed > archive.length) return broken
  return unpacked > archiveLimits.unpackedBytes ? 'The archive unpacks to more than 512 MiB.' : entries
}

/** The types of Unix that an entry may have: none, folder and regular file. */
const usualTypes: ReadonlySet<number> = new Set([0x0, 0x4, 0x8])

/** Programs that unpack while they read know only the name before the content. */
const isNamedAgain = (archive: Uint8Array, view: DataView, offset: number, name: Uint8Array): boolean => {
  const start = offset + headerBytes.file
  if (start > archive.length || view.getUint32(offset, true) !== signatures.file) return false
  const again = archive.subarray(start, start + view.getUint16(offset + 26, true))
  return Buffer.compare(again, name) === 0
}

const pathOf = (name: Uint8Array, isUtf8: boolean): string => {
  const text = Buffer.from(name.buffer, name.byteOffset, name.length).toString()
  // macOS writes UTF-8 without saying so.
  const read = isUtf8 || !text.includes('\ufffd') ? text : name.reduce((before, byte) => before + ibm437(byte), '')
  return read.replaceAll('\\', '/')
}

/** The code page of the format, from 0x80 on. */
const upperHalf =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
  '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'
const ibm437 = (byte: number): string => (byte < 0x80 ? String.fromCharCode(byte) : upperHalf.charAt(byte - 0x80))

const unicodePath = { id: 0x7075, headerBytes: 5 } as const

const otherPathIn = (extra: Uint8Array): string | null => {
  if (extra.length === 0) return null
  const view = viewOf(extra)
  for (let at = 0; at + 4 <= extra.length; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== unicodePath.id) continue
    const start = at + 4
    return pathOf(extra.subarray(start + unicodePath.headerBytes, start + view.getUint16(at + 2, true)), true)
  }
  return null
}

/** What macOS adds to archives. */
const isAdded = (path: string): boolean => path.startsWith('__MACOSX/') || path.endsWith('.DS_Store')

const outermost = (paths: readonly string[], name: string): string =>
  paths.includes(name) ? name : onlyFolder(paths) + name

/** The folder that has all files, with its slash; empty if there is none. */
const onlyFolder = (paths: readonly string[]): string => {
  const [first = '', ...others] = new Set(
    paths.filter((path) => !isAdded(path)).map((path) => path.slice(0, path.indexOf('/') + 1)),
  )
  return others.length === 0 ? first : ''
}

/** The content of a file; the rest of a sentence about it if it cannot be read. */
const unpack = (archive: Uint8Array, view: DataView, entry: Entry, limitBytes: number): Unpacked | string => {
  const { offset, packedBytes, unpackedBytes, method } = entry
  if (entry.isEncrypted) return 'is encrypted. Pack it without a password.'
  if (unpackedBytes > limitBytes) return `is larger than ${limitBytes / 1024} KiB.`
  if (offset + headerBytes.file > archive.length || view.getUint32(offset, true) !== signatures.file) return unreadable
  const packed = packedOf(archive, view, entry)
  const start = packed.byteOffset - archive.byteOffset
  if (method !== 0 && method !== 8) return 'is packed in an unusual way. Pack it with Deflate.'
  const place = { offset: start, packedBytes, isDeflated: method === 8 }
  const bytes = unpackedAgain(packed, place, unpackedBytes)
  return bytes?.length === unpackedBytes && crc32(bytes) === entry.crc ? { bytes, place } : unreadable
}

/** The packed bytes of a file, after the second header, which is there. */
const packedOf = (archive: Uint8Array, view: DataView, { offset, packedBytes }: Entry): Uint8Array => {
  const start = offset + headerBytes.file + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
  return archive.subarray(start, start + packedBytes)
}

type Unpacked = { readonly bytes: Uint8Array; readonly place: ArchivedPlace }

const unreadable = 'is damaged in the archive. Pack it again.'

/** Null if it is not Deflate or gives more than it should. */
const inflated = (packed: Uint8Array, maxOutputLength: number): Uint8Array | null => {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, maxOutputLength) })
  } catch {
    return null
  }
}
