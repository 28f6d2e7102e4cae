import createIgnore from 'ignore'
import { readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { archiveLimits } from '../../../domain/archive.ts'
import { isSecretName, pathFaults } from '../../../domain/archive-path.ts'
import { textOfFile } from '../../../domain/text.ts'
import { hasCode } from '../../../domain/error-code.ts'
import { CommandFailed } from '../../output.ts'

/** A file that goes into the archive. */
export type FoundFile = {
  /** Its path in the archive: relative, with slashes. */
  readonly path: string
  /** The path that its content is read from, with links resolved. */
  readonly source: string
  readonly sizeBytes: number
  readonly isExecutable: boolean
}

/** The contents of a folder: what is packed, and what prevents packing, by path. */
export type FoundFiles = ReturnType<typeof findFiles>

export const ignoreFile = '.appignore'
/** Never packed: they have a history, its secrets and those of its remotes. */
const neverPacked = ['.git', '.hg', '.svn'] as const
/** Packed only if the ignore file names it, as in `!node_modules`. A wildcard such as `!.*` is not meant for it. */
const rarelyPacked = ['.DS_Store', 'node_modules'] as const

/** Files and folders that are looked at, which takes about a second. */
const mostSeen = 2 * archiveLimits.entries

/**
 * Every file below the folder that is not ignored, sorted by path, the same on every machine.
 * @throws CommandFailed for an ignore file that cannot be read; errors of the file system
 */
export const findFiles = (folder: string) => {
  const root = realpathSync(folder)
  const ignores = ignoreRules(root)
  const files: FoundFile[] = []
  const secrets: string[] = []
  const linksOut: string[] = []
  const unpackable: string[] = []
  const unreadable: string[] = []
  const unreadRules: string[] = []
  let seen = 0
  const namesIn = (source: string, path: string): readonly string[] => {
    try {
      return readdirSync(source)
    } catch (error) {
      if (!hasCode(error, 'EACCES', 'EPERM')) throw error
      unreadable.push(path)
      return []
    }
  }
  const visit = (path: string, above: readonly string[]): void => {
    const source = realPath(join(root, path))
    const stats = source === null ? undefined : statSync(source, { throwIfNoEntry: false })
    const composed = path.normalize('NFC') // macOS may write an accent apart from its letter
    if (ignores(stats?.isDirectory() === true ? `${composed}/` : composed) || (seen += 1) > mostSeen) return
    if (basename(path) === ignoreFile) {
      if (path !== ignoreFile) unreadRules.push(path)
    } else if (source === null || stats === undefined || pathFaults([path]).length > 0) unpackable.push(path)
    else if (!isInside(root, source)) linksOut.push(path)
    else if (above.includes(source))
      unpackable.push(path) // a link to a folder that contains it
    else if (stats.isDirectory()) for (const name of namesIn(source, path)) visit(`${path}/${name}`, [...above, source])
    else if (!stats.isFile()) unpackable.push(path)
    else if (isSecretName(path) || isSecretName(relative(root, source))) secrets.push(path)
    else files.push({ path, source, ...factsOf(stats) })
  }
  for (const name of namesIn(root, folder)) visit(name, [root])
  const paths = files.map(({ path }) => path)
  return {
    files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    secrets: secrets.toSorted(),
    linksOut: linksOut.toSorted(),
    /** Pipes, devices, broken and circular links, and names that do not work on every system. */
    unpackable: unpackable.toSorted(),
    /** Pairs of paths that are one path on systems where the case of letters or their Unicode form does not count. */
    alike: pathFaults(paths).flatMap((fault) => (fault.kind === 'same' ? [`${fault.path} and ${fault.other}`] : [])),
    /** What this user may not read. */
    unreadable: unreadable.toSorted(),
    /** Further ignore files, as Git has them. */
    unreadRules: unreadRules.toSorted(),
    /** Whether it was too much to look at all of it, such as a home folder, or links that lead to one another. */
    isEndless: seen > mostSeen,
  }
}

/** Case-sensitive on every machine, so that the archive is the same everywhere. */
const ignoreRules = (root: string): ((path: string) => boolean) => {
  const text = rulesIn(root)
  const named = new Set(text.split(/\r?\n/).map((line) => /^!\/?(.+?)\/?\s*$/.exec(line)?.[1]))
  const ofOthers = createIgnore({ ignorecase: false }).add(text)
  const ours = createIgnore({ ignorecase: false }).add([
    ...neverPacked,
    ...rarelyPacked.filter((name) => !named.has(name)),
  ])
  return (path) => ours.ignores(path) || ofOthers.ignores(path)
}

const rulesIn = (root: string): string => {
  const file = join(root, ignoreFile)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return ''
  if (!found.isFile()) throw new CommandFailed([`${ignoreFile} is not a file.`]) // reading a pipe could wait forever
  const text = textOfFile(readFileSync(file))
  // The first editions of PowerShell write UTF-16. Of a rule that is not understood, its files would be packed.
  if (text === null || text.includes('\0')) throw new CommandFailed([`${ignoreFile} is not UTF-8. Save it as UTF-8.`])
  return text.normalize('NFC')
}

const factsOf = ({ size, mode }: Stats) => ({ sizeBytes: size, isExecutable: (mode & 0o100) !== 0 })

/** Null for a link whose target does not exist or cannot be seen by this user. */
const realPath = (path: string): string | null => {
  try {
    return realpathSync(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'EACCES', 'EPERM')) return null
    throw error
  }
}

const isInside = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
