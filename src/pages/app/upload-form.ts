import { type ParsedManifest, parseManifest, placedInAppJson, type PlacedSentence } from '../../domain/app-json.ts'
import { readPackage } from '../../domain/app-package.ts'
import { openArchive } from '../../domain/archive.ts'
import { atOnce } from '../../domain/awaitable.ts'
import type { PlatformError } from '../../domain/errors.ts'
import type { ManifestContent } from '../../domain/manifest.ts'
import { isSecretName } from '../../domain/archive-path.ts'
import { isWellFormedText, visibleJson } from '../../domain/text.ts'
import { artifactNameForm, isSemanticVersion, manifestLimitBytes, versionLimits } from '../../domain/version.ts'
import type { SentFile } from '../../http/multipart.ts'
import type { VersionUpload } from '../../operations/versions/create-version.ts'
import type { VersionRecord } from '../../operations/versions/version-record.ts'
import { badInput } from '../../operations/decide.ts'

/** What a person typed into the form of a version. */
export type VersionValues = {
  readonly version: string
  readonly notes: string
  readonly manifest: string
  readonly scopes: readonly string[]
}

export const emptyVersion: VersionValues = { version: '', notes: '', manifest: '', scopes: [] }

/** What the form shows of a draft. Scopes that its manifest lists are not chosen beside it. */
export const valuesOf = ({ version, notes, manifest, scopes }: VersionRecord): VersionValues => ({
  version,
  notes: notes ?? '',
  manifest: editable(manifest),
  scopes: Object.hasOwn(manifest, 'scopes') ? [] : scopes,
})

/** With indentation, unless that would make it much longer. */
const editable = (manifest: VersionRecord['manifest']): string => {
  const indented = visibleJson(manifest)
  return indented.length <= manifestLimitBytes ? indented : JSON.stringify(manifest)
}

type SentForm = {
  readonly values: VersionValues
  readonly file: SentFile | undefined
  /** What the form showed: nothing, or the draft. */
  readonly shown: VersionValues
  /** The file of the draft, which stays unless another one is sent. */
  readonly kept: VersionRecord['artifact']
}

type ReadForm =
  | { readonly kind: 'upload'; readonly upload: VersionUpload & { readonly scopes: readonly string[] } }
  | { readonly kind: 'faulty'; readonly errors: readonly PlatformError[] }

/** The upload that a form asks for, by the rules of the command line; or everything that is wrong with it. */
export const readVersionForm = ({ values, file, shown, kept }: SentForm): ReadForm => {
  const { version, notes } = values
  const errors = [
    ...fault(isSemanticVersion(version), 'version', 'Write a semantic version, such as 1.4.0 or 2.0.0-beta.1.'),
    ...fileFaults(file),
    ...fault(notes.length <= versionLimits.notes, 'notes', `Write at most ${versionLimits.notes} characters.`),
    ...fault(isWellFormedText(notes), 'notes', 'The notes contain broken characters.'),
  ]
  const manifest = errors.some(({ facts }) => facts.param === 'file') ? noManifest : manifestOf(values, shown, file)
  const scopes = manifest.kind === 'manifest' ? scopesOf(values, shown, manifest) : []
  if (manifest.kind === 'faulty') errors.push(...manifest.errors)
  if (scopes === 'differ') errors.push(badInput('scopes', 'app.json lists other scopes. Change them there.'))
  if (errors.length > 0 || manifest.kind === 'faulty' || scopes === 'differ') return { kind: 'faulty', errors }
  const artifact = artifactOf(file) ?? keptArtifact(kept)
  const { content } = manifest
  return {
    kind: 'upload',
    upload: { version, notes: notes === '' ? null : notes, manifest: content, scopes, artifact },
  }
}

const fault = (isGood: boolean, param: string, sentence: string): readonly PlatformError[] =>
  isGood ? [] : [badInput(param, sentence)]

const artifactName = new RegExp(artifactNameForm, 'u')

const fileFaults = (file: SentFile | undefined): readonly PlatformError[] => {
  if (file === undefined) return []
  const { filename, content } = file
  if (content === null) return [badInput('file', 'The file is larger than 10 MiB.')]
  if (isSecretName(filename)) return [badInput('file', 'A file with this name usually holds secrets. Choose your app.')]
  const isGood = filename.length <= versionLimits.filename && artifactName.test(filename)
  return fault(isGood, 'file', 'The file has a name that an artifact cannot have. Rename it.')
}

const artifactOf = (file: SentFile | undefined): VersionUpload['artifact'] =>
  file === undefined || file.content === null ? null : { filename: file.filename, content: file.content, sha256: null }

/** Its pieces are stored already. */
const keptArtifact = (kept: VersionRecord['artifact']): VersionUpload['artifact'] =>
  kept === null
    ? null
    : {
        filename: kept.filename,
        content: { pieces: [], sizeBytes: kept.sizeBytes, sha256: Buffer.from(kept.sha256, 'hex') },
        sha256: null,
      }

type FoundManifest =
  | {
      readonly kind: 'manifest'
      readonly content: ManifestContent
      readonly scopes: readonly string[]
    }
  | { readonly kind: 'faulty'; readonly errors: readonly PlatformError[] }

const noManifest: FoundManifest = { kind: 'faulty', errors: [] }
const faulty = (param: string, sentence: string): FoundManifest => ({
  kind: 'faulty',
  errors: [badInput(param, sentence)],
})

/**
 * The manifest is `app.json` in the file. One that was typed counts if the file has none. If the file has another one, the
 * person must say which they mean.
 */
const manifestOf = ({ manifest }: VersionValues, shown: VersionValues, file: SentFile | undefined): FoundManifest => {
  const isTyped = manifest.trim() !== '' && manifest !== shown.manifest
  const inFile = file === undefined ? null : manifestIn(file, manifest.trim() !== '')
  if (inFile === null) return manifest.trim() === '' ? faulty('file', missing) : typedManifest(manifest)
  if (inFile.kind === 'faulty' || !isTyped) return inFile
  const typed = typedManifest(manifest)
  if (typed.kind === 'faulty' || isSame(typed.content, inFile.content)) return typed
  return faulty('manifest', 'The archive has another app.json. Clear this field to use that one.')
}

const missing = 'Choose a ZIP archive with app.json in it, or write the manifest below.'

const isSame = (one: unknown, other: unknown): boolean => Bun.deepEquals(one, other, true)

/** The manifest in an archive; null if the file has none and need not have one. */
const manifestIn = ({ content }: SentFile, isOptional: boolean): FoundManifest | null => {
  const read = readPackage(atOnce(openArchive(Buffer.concat(content?.pieces ?? []))))
  switch (read.kind) {
    case 'refused':
      return faulty('file', read.sentence)
    case 'no archive':
      return isOptional ? null : faulty('file', 'This is not a ZIP archive. Choose one, or write the manifest below.')
    case 'no manifest':
      return isOptional ? null : faulty('file', 'The archive has no app.json. Add it, or write the manifest below.')
    case 'manifest':
    case 'faulty':
      return checkedManifest('file', read)
    default:
      return read satisfies never
  }
}

const typedManifest = (text: string): FoundManifest => checkedManifest('manifest', parseManifest(text))

/** The most faults that are shown at once. */
const mostFaults = 20

const checkedManifest = (param: 'file' | 'manifest', read: ParsedManifest): FoundManifest => {
  if (read.kind === 'manifest') {
    const isSmall = Buffer.byteLength(JSON.stringify(read.content)) <= manifestLimitBytes
    return isSmall ? read : faulty(param, 'app.json is larger than 256 KiB.')
  }
  const at = (placed: PlacedSentence) =>
    badInput(
      param,
      param === 'file' ? placedInAppJson(placed) : `Line ${placed.line}, column ${placed.column}: ${placed.sentence}`,
    )
  return { kind: 'faulty', errors: read.faults.slice(0, mostFaults).map(at) }
}

/** The scopes that the manifest lists, or those that were chosen beside it. */
const scopesOf = (
  { scopes: chosen }: VersionValues,
  shown: VersionValues,
  { content, scopes }: Extract<FoundManifest, { kind: 'manifest' }>,
): readonly string[] | 'differ' => {
  if (!Object.hasOwn(content, 'scopes')) return chosen
  const mayDiffer = chosen.length === 0 || isSame(chosen.toSorted(), shown.scopes.toSorted())
  return mayDiffer || isSame(chosen.toSorted(), scopes.toSorted()) ? scopes : 'differ'
}
