import type { ListedFile } from './archive.ts'

/** What became of a file from one archive to another. */
export const fileChanges = ['added', 'changed', 'removed', 'same'] as const

export type ComparedFile = {
  /** In the order of the paths. */
  readonly place: number
  readonly path: string
  readonly change: (typeof fileChanges)[number]
  /** As the archives say; null where the file is not. */
  readonly sizeBefore: number | null
  readonly sizeAfter: number | null
}

/**
 * The files of two archives in the order of their paths. A file is the same if its packed bytes are: checksums in an archive may be wrong,
 * or made to be those of another file. It yields after some of them.
 */
export function* comparedFiles(
  before: readonly ListedFile[],
  after: readonly ListedFile[],
): Generator<undefined, readonly ComparedFile[]> {
  const [earlier, later] = [byPath(before), byPath(after)]
  const paths = [...new Set([...earlier.keys(), ...later.keys()])]
  yield
  paths.sort()
  const files: ComparedFile[] = []
  for (const [place, path] of paths.entries()) {
    if (place % filesAtOnce === 0) yield
    const [was, is] = [earlier.get(path), later.get(path)]
    const sizes = { sizeBefore: was?.sizeBytes ?? null, sizeAfter: is?.sizeBytes ?? null }
    files.push({ place, path, change: changeOf(was, is), ...sizes })
  }
  return files
}

/** Files that are compared in about a millisecond. */
const filesAtOnce = 512

const changeOf = (was: ListedFile | undefined, is: ListedFile | undefined): ComparedFile['change'] => {
  if (was === undefined) return 'added'
  if (is === undefined) return 'removed'
  return isSame(was, is) ? 'same' : 'changed'
}

const byPath = (files: readonly ListedFile[]): ReadonlyMap<string, ListedFile> =>
  new Map(files.map((file) => [file.path, file]))

const isSame = (was: ListedFile, is: ListedFile): boolean =>
  was.packing === is.packing && was.sizeBytes === is.sizeBytes && Buffer.compare(was.packed, is.packed) === 0

/** The text of the beginning of a file; null if it is not text in UTF-8. */
export const textOfBeginning = (bytes: Uint8Array, isCut: boolean): string | null => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut })
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}
