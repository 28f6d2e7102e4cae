import { readFileSync, statSync } from 'node:fs'
import { type ParsedManifest, parseManifest, placedInAppJson, type PlacedSentence } from '../../domain/app-json.ts'
import type { ManifestContent } from '../../domain/manifest.ts'
import { textOfFile } from '../../domain/text.ts'
import { manifestLimitBytes } from '../../domain/version.ts'
import { CommandFailed } from '../output.ts'
import type { PreparedArtifact } from './package/prepare-artifact.ts'

export type Manifest = {
  readonly content: ManifestContent
  readonly scopes: readonly string[]
  /** Warnings: what is allowed but probably a mistake. */
  readonly warnings: readonly string[]
}

/**
 * Reads and checks `app.json`.
 * @throws CommandFailed with all faults, each with file, line and column
 */
export const readManifest = (file: string): Manifest =>
  checked(parseManifest(textOf(file)), ({ line, column, sentence }) => `${file}:${line}:${column}: ${sentence}`)

/**
 * The `app.json` in an archive.
 * @throws CommandFailed with all faults, or if there is none
 */
export const packagedManifest = (file: string, prepared: PreparedArtifact): Manifest => {
  const read = prepared.kind === 'archive' ? prepared.read : null
  if (read?.kind === 'manifest' || read?.kind === 'faulty') {
    return checked(read, (placed) => `${file}: ${placedInAppJson(placed)}`)
  }
  throw new CommandFailed([`${file} has no app.json. Add it, or name the manifest with --manifest.`])
}

const checked = (parsed: ParsedManifest, at: (placed: PlacedSentence) => string): Manifest => {
  if (parsed.kind === 'faulty') throw new CommandFailed(parsed.faults.map(at))
  const { content, scopes, warnings } = parsed
  return { content, scopes, warnings: warnings.map(at) }
}

const textOf = (file: string): string => {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) {
    throw new CommandFailed([
      `There is no manifest ${file}. Write one, such as {"name":"My app","scopes":["site:read"]}, or name another file with --manifest.`,
    ])
  }
  if (!found.isFile()) throw new CommandFailed([`The manifest ${file} is not a file.`])
  if (found.size > manifestLimitBytes) throw new CommandFailed([`The manifest ${file} is larger than 256 KiB.`])
  const text = textOfFile(bytesOf(file))
  if (text === null) throw new CommandFailed([`The manifest ${file} is not UTF-8.`])
  return text
}

const bytesOf = (file: string): Uint8Array => {
  try {
    return readFileSync(file)
  } catch {
    throw new CommandFailed([`The manifest ${file} cannot be read. Check its permissions.`])
  }
}
