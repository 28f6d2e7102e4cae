import { checkIcon, iconLimits } from './app-icon.ts'
import { type ArchivedPlace, type OpenedArchive, readArchivedFile } from './archive.ts'
import { type ParsedManifest, parseManifest } from './app-json.ts'
import type { ManifestContent } from './manifest.ts'
import { textOfFile } from './text.ts'
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
export const readPackage = (archive: OpenedArchive): ReadPackage => {
  const found = readArchivedFile(archive, 'app.json', manifestLimitBytes)
  if (found.kind === 'missing') return { kind: 'no manifest' }
  if (found.kind !== 'file') return found
  const text = textOfFile(found.bytes)
  return text === null
    ? { kind: 'refused', sentence: 'The file app.json is not UTF-8.' }
    : parseManifest(text, (content) => iconFault(archive, content))
}

type ReadIcon =
  | { readonly kind: 'icon'; readonly bytes: Uint8Array; readonly place: ArchivedPlace }
  /** The manifest names no icon. */
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly sentence: string }

/** The icon that a manifest without faults names, from the package beside it (null: there is no file). */
export const readIcon = (archive: OpenedArchive | null, { icon }: ManifestContent): ReadIcon => {
  if (typeof icon !== 'string') return { kind: 'none' }
  const found = archive === null ? ({ kind: 'no archive' } as const) : readArchivedFile(archive, icon, iconLimits.bytes)
  switch (found.kind) {
    case 'file': {
      const checked = checkIcon(found.bytes)
      return checked.kind === 'icon' ? { ...found, kind: 'icon' } : checked
    }
    case 'missing':
      return { kind: 'refused', sentence: 'The archive has no file at this path. It is case-sensitive.' }
    case 'no archive':
      return { kind: 'refused', sentence: 'The icon is a file in the ZIP archive of the version, which has none.' }
    default:
      return found
  }
}

/** What is wrong with the icon that a manifest names, from the package beside it. */
export const iconFault = (archive: OpenedArchive, content: ManifestContent) => {
  const read = readIcon(archive, content)
  return read.kind === 'refused' ? { field: 'icon', sentence: read.sentence } : null
}
