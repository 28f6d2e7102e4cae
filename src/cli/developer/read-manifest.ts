import { readFileSync, statSync } from 'node:fs'
import { parseManifest, type PlacedSentence } from '../../domain/manifest.ts'
import { manifestLimitBytes } from '../../domain/version.ts'
import { CommandFailed } from '../output.ts'

export type Manifest = {
  readonly content: Readonly<Record<string, unknown>>
  readonly scopes: readonly string[]
  /** Warnings: what is allowed but probably a mistake. */
  readonly warnings: readonly string[]
}

/**
 * Reads and checks `app.json`.
 * @throws CommandFailed with all faults, each with file, line and column
 */
export const readManifest = (file: string): Manifest => {
  const parsed = parseManifest(textOf(file))
  const at = ({ line, column, sentence }: PlacedSentence) => `${file}:${line}:${column}: ${sentence}`
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
  const bytes = orFail(() => readFileSync(file), `The manifest ${file} cannot be read. Check its permissions.`)
  return orFail(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes), `The manifest ${file} is not UTF-8.`)
}

const orFail = <T>(work: () => T, sentence: string): T => {
  try {
    return work()
  } catch {
    throw new CommandFailed([sentence])
  }
}
