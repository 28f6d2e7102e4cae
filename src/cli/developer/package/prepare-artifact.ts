import { readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type ReadPackage, readPackage } from '../../../domain/app-package.ts'
import { archiveLimits, openArchive, unpackedFiles } from '../../../domain/archive.ts'
import { atOnce } from '../../../domain/awaitable.ts'
import { isSecretName } from '../../../domain/archive-path.ts'
import { typedFileName } from '../../../domain/entered-name.ts'
import { bytesInWords } from '../../../domain/text.ts'
import { artifactLimits, artifactName } from '../../../domain/version.ts'
import { CommandFailed } from '../../output.ts'
import { startProgressBar } from '../../progress-bar.ts'
import { type FoundFile, type FoundFiles, findFiles, ignoreFile } from './find-files.ts'
import { pack } from './pack.ts'
import { hasSecret } from './secret-scan.ts'

/** What is uploaded. */
export type PreparedArtifact = {
  readonly filename: string
  readonly bytes: Uint8Array<ArrayBuffer>
} & (
  | { readonly kind: 'packed'; readonly files: readonly Pick<FoundFile, 'path' | 'sizeBytes'>[] }
  /** An archive that is uploaded as it is, and what is in it. */
  | { readonly kind: 'archive'; readonly read: ReadPackage }
)

/**
 * The artifact of a version: a folder in one archive, or a ZIP archive as it is.
 * @throws CommandFailed, naming the files that may not be uploaded
 */
export const prepareArtifact = async (
  source: string,
  version: string,
  signal: AbortSignal,
): Promise<PreparedArtifact> => {
  const found = statSync(source, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandFailed([`There is no file or folder ${source}.`])
  if (found.isDirectory()) return await packFolder(source, version, signal)
  if (found.isFile()) return singleFile(source, found.size)
  throw new CommandFailed([`${source} is neither a file nor a folder.`])
}

const packFolder = async (folder: string, version: string, signal: AbortSignal): Promise<PreparedArtifact> => {
  const found = findFiles(folder)
  refuseUnfit(folder, found)
  const { files } = found
  const bar = startProgressBar(bytesOf(files))
  bar.say('packing')
  const options = { limitBytes: artifactLimits.bytes, onProgress: bar.advance, signal }
  const packed = await pack(files, options).finally(bar.end)
  switch (packed.kind) {
    case 'packed':
      return { kind: 'packed', filename: `${archiveName(folder)}-${version}.zip`, bytes: packed.bytes, files }
    case 'too_large':
      throw new CommandFailed([tooLarge(`The archive is larger than ${bytesInWords(artifactLimits.bytes)}.`, files)])
    case 'secrets':
      throw new CommandFailed(about(packed.paths, `files ${secretInside}`, 'Take it out of them, or list'))
    default:
      throw packed satisfies never
  }
}

const refuseUnfit = (folder: string, found: FoundFiles): void => {
  const { files, secrets, linksOut, unpackable, alike, unreadable, unreadRules, isEndless } = found
  const sentences = [
    ...about(linksOut, `links lead out of ${folder}`, 'Replace them by what they lead to, or list'),
    ...about(secrets, 'files hold secrets, which must not leave this machine', 'Move them away, or list'),
    ...about(
      unpackable,
      'cannot be packed',
      'They are not regular files, are broken or circular links, or have names that do not work on every system. List',
    ),
    ...about(alike, 'are one file on some systems', 'Rename one of each pair, or list one of'),
    ...about(unreadable, 'folders cannot be read', 'Check their permissions, or list'),
    ...about(unreadRules, 'are not read', 'Write what is in'),
    ...(files.length > archiveLimits.entries || isEndless ? [tooMany(folder, files.length, isEndless)] : []),
    ...(bytesOf(files) > archiveLimits.unpackedBytes
      ? [tooLarge(`The files are more than ${bytesInWords(archiveLimits.unpackedBytes)} together.`, files)]
      : []),
  ]
  if (sentences.length > 0) throw new CommandFailed(sentences)
  if (files.length === 0)
    throw new CommandFailed([`There is nothing to pack in ${folder}: it is empty, or all of it is ignored.`])
}

/** A sentence about these paths, if there are any. `advice` ends where it names the ignore file. */
const about = (paths: readonly string[], fault: string, advice: string): readonly string[] =>
  paths.length === 0 ? [] : [`These ${fault}: ${nameSome(paths)}. ${advice} them in ${ignoreFile}.`]

const tooMany = (folder: string, count: number, isEndless: boolean): string =>
  `There are ${isEndless ? 'many more files and folders' : `${count} files`} in ${folder}; an archive has at most ${archiveLimits.entries}. List what need not be in it in ${ignoreFile}.`

const bytesOf = (files: readonly FoundFile[]): number => files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

const tooLarge = (fault: string, files: readonly FoundFile[]): string => {
  const largest = files.toSorted((one, other) => other.sizeBytes - one.sizeBytes).slice(0, 5)
  const names = largest.map(({ path, sizeBytes }) => `${path} (${bytesInWords(sizeBytes)})`)
  return `${fault} The largest files are ${names.join(', ')}. List what need not be in it in ${ignoreFile}.`
}

/** The folder's name, without characters that a file name cannot have. */
const archiveName = (folder: string): string =>
  typedFileName(basename(resolve(folder)).replaceAll(/[\p{Cc}/\\]/gu, '')).name.slice(0, 100) || 'app'

const singleFile = (path: string, sizeBytes: number): PreparedArtifact => {
  if (sizeBytes > artifactLimits.bytes) {
    throw new CommandFailed([
      `${path} is ${bytesInWords(sizeBytes)}; an artifact has at most ${bytesInWords(artifactLimits.bytes)}. Make it smaller.`,
    ])
  }
  const filename = basename(resolve(path))
  const bytes = new Uint8Array(readFileSync(path))
  const archive = atOnce(openArchive(bytes))
  const secrets: string[] = []
  for (const file of unpackedFiles(archive)) if (hasSecret(file.bytes)) secrets.push(file.path) // they may be large together
  if (secrets.length > 0) {
    throw new CommandFailed([
      `These files in ${path} ${secretInside}: ${nameSome(secrets)}. Take it out, and pack again.`,
    ])
  }
  if (isSecretName(filename) || hasSecret(bytes)) {
    throw new CommandFailed([`${path} holds a secret, which must not leave this machine. Name the file of your app.`])
  }
  if (artifactName(filename).fault !== null) {
    throw new CommandFailed([`${path} has a name that an artifact cannot have. Rename it.`])
  }
  const read = readPackage(archive)
  if (read.kind === 'no archive') {
    throw new CommandFailed([`${path} is not a ZIP archive. Name the folder of your app, or a ZIP archive of it.`])
  }
  if (read.kind === 'refused') throw new CommandFailed([`${path} cannot be uploaded. ${read.sentence}`])
  return { kind: 'archive', filename, bytes, read }
}

/** What a secret in a file is called. */
export const secretInside = 'have a private key or a secret of this platform in them, which must not leave this machine'

const mostNamed = 10

/** The first few of many: `a, b, c and 4 more`. */
const nameSome = (names: readonly string[]): string =>
  names.length <= mostNamed
    ? names.join(', ')
    : `${names.slice(0, mostNamed).join(', ')} and ${names.length - mostNamed} more`
