import { readArchivedFile } from './archive.ts'
import { type ParsedManifest, parseManifest } from './manifest.ts'
import { manifestLimitBytes } from './version.ts'

/** What a file is that somebody uploads as their app. */
export type ReadPackage =
  /** A ZIP archive with `app.json`, which has been parsed and checked. */
  | ParsedManifest
  /** A ZIP archive without `app.json`, or another file. */
  | { readonly kind: 'no manifest' | 'no archive' }
  /** An archive that must not be uploaded, or whose `app.json` cannot be read. */
  | { readonly kind: 'refused'; readonly sentence: string }

/** Reads a package: for the API, the console and the command line, so that all of them make the same version of one file. */
export const readPackage = (file: Uint8Array): ReadPackage => {
  const found = readArchivedFile(file, 'app.json', manifestLimitBytes)
  if (found.kind === 'missing') return { kind: 'no manifest' }
  if (found.kind !== 'file') return found
  const text = textOf(found.bytes)
  return text === null ? { kind: 'refused', sentence: 'The file app.json is not UTF-8.' } : parseManifest(text)
}

const textOf = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
