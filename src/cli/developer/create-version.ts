import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { artifactOf, type PlatformClient, type Version, type VersionUpload } from '../../client/index.ts'
import { bytesInWords, textOfFile } from '../../domain/text.ts'
import { isSemanticVersion, manifestLimitBytes } from '../../domain/version.ts'
import { type Answer, answer, CommandFailed, printable, tableText, UsageError } from '../output.ts'
import { startProgressBar } from '../progress-bar.ts'
import { findRemote, openRemote } from '../remote.ts'
import { changing, type DeveloperFlags, readStanding, standingText, tellOfWaiting } from './developer-command.ts'
import { prepareArtifact, type PreparedArtifact, secretInside } from './package/prepare-artifact.ts'
import { hasSecret } from './package/secret-scan.ts'
import { iconFault } from '../../domain/app-package.ts'
import { openArchive } from '../../domain/archive.ts'
import { atOnce } from '../../domain/awaitable.ts'
import { type ParsedManifest, parseManifest, placedInAppJson, type PlacedSentence } from '../../domain/app-json.ts'
import type { ManifestContent } from '../../domain/manifest.ts'

type CreateFlags = DeveloperFlags & {
  readonly version: string
  readonly notes?: string
  readonly manifest?: string
  readonly dryRun?: boolean
}

/** Checks all that can be checked locally before it sends anything. */
export const uploadDraft = async (signal: AbortSignal, source: string, flags: CreateFlags): Promise<void> => {
  const { version, notes, dryRun = false } = flags
  if (!isSemanticVersion(version)) throw new UsageError('--version must be a semantic version such as 1.4.0.')
  if (notes !== undefined && notes.length > 10_000) throw new UsageError('--notes has at most 10000 characters.')
  if (!dryRun) findRemote(flags) // first, so that nobody waits for packing only to learn that they are not signed in
  const apart = manifestApart(source, flags.manifest)
  if (apart !== null) readManifest(apart) // first, because packing takes long
  const prepared = await prepareArtifact(source, version, signal)
  const manifest = apart === null ? packagedManifest(source, prepared) : readManifest(apart, prepared.bytes)
  for (const warning of manifest.warnings) process.stderr.write(`warning: ${printable(warning)}\n`)
  const artifact = await artifactOf(prepared.filename, prepared.bytes)
  if (dryRun) return answer(flags, preview(version, manifest, prepared, artifact.sha256))
  const { client } = await openRemote(flags, { signal, onRepeat: tellOfWaiting })
  const draft = { version, manifest: manifest.content, scopes: [...manifest.scopes], artifact }
  const created = await upload(client, notes === undefined ? draft : { ...draft, notes }, signal)
  const text = flags.json === true ? '' : await draftText(client, created, prepared, signal)
  answer(flags, { value: created, text })
}

/** The manifest that was named, or `app.json` in the folder; null for a file, which has it inside. */
const manifestApart = (source: string, named: string | undefined): string | null => {
  if (named !== undefined) return named
  const isFolder = statSync(source, { throwIfNoEntry: false })?.isDirectory() === true
  return isFolder ? join(source, 'app.json') : null
}

/** Uses one idempotency key for all its attempts. */
const upload = async (client: PlatformClient, draft: VersionUpload, signal: AbortSignal): Promise<Version> => {
  const bar = startProgressBar(draft.artifact?.contentBase64.length ?? 0)
  let shown = 0
  const onUpload = (sentBytes: number, totalBytes: number) => {
    bar.say(sentBytes < totalBytes ? 'uploading' : 'waiting for the answer')
    bar.advance(sentBytes - shown)
    shown = sentBytes
  }
  // Progress only for a person: a stream with progress has no Content-Length, which some old proxies need.
  const options = { signal, ...(process.stderr.isTTY ? { onUpload } : {}) }
  const doubt = `It is not known whether ${draft.version} was created: see app-platform versions list. Running the command again is safe.`
  return await changing(signal, doubt, async () => await client.versions.create(draft, options).finally(bar.end))
}

const draftText = async (client: PlatformClient, created: Version, prepared: PreparedArtifact, signal: AbortSignal) => {
  const { artifact, version, revision, number } = created
  if (artifact === null) throw new CommandFailed([`${version} was created without its artifact. Tell the operator.`])
  const done =
    revision === 1
      ? `Created ${version}, draft number ${number}`
      : `Replaced the content of the draft ${version} (revision ${revision})`
  const packed = prepared.kind === 'packed' ? `, ${countedFiles(prepared.files)}` : ''
  const standing = await readStanding(client, signal)
  return [
    `${done}: ${artifact.filename}, ${bytesInWords(artifact.sizeBytes)}${packed}.`,
    `SHA-256 ${artifact.sha256}`,
    standingText(standing),
    'A draft changes nothing for users. Submit it for review in the console.',
  ]
    .map(printable)
    .join('\n')
}

const countedFiles = ({ length }: readonly unknown[]): string => (length === 1 ? '1 file' : `${length} files`)

/** What would be uploaded. */
const preview = (
  version: string,
  { content, scopes }: Manifest,
  prepared: PreparedArtifact,
  sha256: string | undefined,
): Answer => {
  const { filename, bytes } = prepared
  const files = prepared.kind === 'packed' ? prepared.files : [{ path: filename, sizeBytes: bytes.length }]
  const packed = files.map(({ path, sizeBytes }) => ({ path, sizeBytes }))
  const artifact = { filename, sizeBytes: bytes.length, sha256 }
  const rows = packed.map(({ path, sizeBytes }) => ({ path, size: bytesInWords(sizeBytes) }))
  const text = [
    tableText(rows, { File: 'path', Size: 'size' }),
    '',
    printable(`${version} would be ${filename}, ${bytesInWords(bytes.length)}, ${countedFiles(packed)}.`),
    `SHA-256 ${sha256}`,
    'Nothing was sent.',
  ].join('\n')
  return { value: { dryRun: true, version, manifest: content, scopes, artifact, files: packed }, text }
}

export type Manifest = {
  readonly content: ManifestContent
  readonly scopes: readonly string[]
  /** Warnings: what is allowed but probably a mistake. */
  readonly warnings: readonly string[]
}

/**
 * Reads and checks `app.json`, and once there is a package, that it has the icon.
 * @throws CommandFailed with all faults, each with file, line and column
 */
export const readManifest = (file: string, packed: Uint8Array | null = null): Manifest => {
  const archive = packed === null ? null : atOnce(openArchive(packed))
  const parsed = parseManifest(textOf(file), (content) => (archive === null ? null : iconFault(archive, content)))
  return checked(parsed, ({ line, column, sentence }) => `${file}:${line}:${column}: ${sentence}`)
}

/**
 * The `app.json` in an archive.
 * @throws CommandFailed with all faults, or if there is none
 */
const packagedManifest = (file: string, prepared: PreparedArtifact): Manifest => {
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
  const bytes = bytesOf(file)
  if (hasSecret(bytes)) throw new CommandFailed([`These files ${secretInside}: ${file}. Take it out.`])
  const text = textOfFile(bytes)
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
