import { readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import createIgnore, { type Ignore } from 'ignore'
import { isSecretName } from './secret-file.ts'

/** A file that goes into the archive. */
export type FoundFile = {
  /** Where it stands in the archive: relative, with slashes. */
  readonly path: string
  /** Where its content is read from; a link inside the folder leads there. */
  readonly source: string
  readonly sizeBytes: number
  readonly isExecutable: boolean
}

/** What a folder has to offer: what is packed, and what stands in the way, by path. */
export type FoundFiles = {
  readonly files: readonly FoundFile[]
  readonly secrets: readonly string[]
  readonly linksOut: readonly string[]
  /** Pipes, devices, broken and circular links, and names that no archive can carry everywhere. */
  readonly unpackable: readonly string[]
}

export const ignoreFile = '.appignore'
/** Never part of an app; `!node_modules` in the ignore file brings one back. */
export const alwaysIgnored = ['.git', '.hg', '.svn', '.DS_Store', 'node_modules', ignoreFile] as const

/**
 * Every file below the folder that is not ignored, in the order of their paths, the same on every machine.
 * @throws errors of the file system
 */
export const findFiles = (folder: string): FoundFiles => {
  const root = realpathSync(folder)
  const ignored = ignoreRules(root)
  const files: FoundFile[] = []
  const secrets: string[] = []
  const linksOut: string[] = []
  const unpackable: string[] = []
  const visit = (path: string, above: readonly string[]): void => {
    const source = realPath(join(root, path))
    const stats = source === null ? undefined : statSync(source, { throwIfNoEntry: false })
    if (ignored.ignores(stats?.isDirectory() === true ? `${path}/` : path)) return
    if (source === null || stats === undefined || hasOddName(path)) unpackable.push(path)
    else if (!isInside(root, source)) linksOut.push(path)
    else if (above.includes(source))
      unpackable.push(path) // a link to a folder that it stands in
    else if (stats.isDirectory()) for (const name of readdirSync(source)) visit(`${path}/${name}`, [...above, source])
    else if (!stats.isFile()) unpackable.push(path)
    else if (isSecretName(path) || isSecretName(relative(root, source))) secrets.push(path)
    else files.push({ path, source, ...factsOf(stats) })
  }
  for (const name of readdirSync(root)) visit(name, [root])
  return {
    files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    secrets: secrets.toSorted(),
    linksOut: linksOut.toSorted(),
    unpackable: unpackable.toSorted(),
  }
}

/** Upper and lower case differ, also on a machine where they do not: an archive is the same everywhere. */
const ignoreRules = (root: string): Ignore => {
  const rules = createIgnore({ ignorecase: false }).add([...alwaysIgnored])
  const file = join(root, ignoreFile)
  return statSync(file, { throwIfNoEntry: false }) === undefined ? rules : rules.add(readFileSync(file, 'utf8'))
}

const factsOf = ({ size, mode }: Stats) => ({ sizeBytes: size, isExecutable: (mode & 0o100) !== 0 })

/** Null for a link that leads nowhere. */
const realPath = (path: string): string | null => {
  try {
    return realpathSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ELOOP')) return null
    throw error
  }
}

const isInside = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

/** Control characters and backslashes mean something else elsewhere; U+FFFD stands for bytes that are not UTF-8. */
const hasOddName = (path: string): boolean => /[\p{Cc}\\\ufffd]/u.test(path)
