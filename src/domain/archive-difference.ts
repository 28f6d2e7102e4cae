import type { ListedFile } from './archive.ts'

/** What became of a file from one archive to another. */
export const fileChanges = ['added', 'changed', 'removed', 'same'] as const

export type ComparedFile = {
  readonly path: string
  readonly change: (typeof fileChanges)[number]
  /** As the archives say; null where the file is not. */
  readonly sizeBefore: number | null
  readonly sizeAfter: number | null
}

/**
 * The files of two archives by their paths. A file is the same if its packed bytes are: checksums in an archive may be wrong, or made
 * to be those of another file.
 */
export const comparedFiles = (before: readonly ListedFile[], after: readonly ListedFile[]): readonly ComparedFile[] => {
  const [earlier, later] = [byPath(before), byPath(after)]
  const paths = [...new Set([...earlier.keys(), ...later.keys()])].sort()
  return paths.map((path) => {
    const [was, is] = [earlier.get(path), later.get(path)]
    const [sizeBefore, sizeAfter] = [was?.sizeBytes ?? null, is?.sizeBytes ?? null]
    if (was === undefined) return { path, change: 'added', sizeBefore, sizeAfter }
    if (is === undefined) return { path, change: 'removed', sizeBefore, sizeAfter }
    return { path, change: isSame(was, is) ? 'same' : 'changed', sizeBefore, sizeAfter }
  })
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
