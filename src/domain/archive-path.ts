import { isDevice, longestBytes } from './download-name.ts'

/** Why a path cannot be unpacked into a folder on every system. */
export type PathFault =
  | { readonly kind: 'outside' | 'odd'; readonly path: string }
  /** Both are one path where the case of letters or their Unicode form does not count, or a file is in the place of a folder. */
  | { readonly kind: 'same'; readonly path: string; readonly other: string }

/** What is wrong with the paths of the files in an archive. Every folder and file must have one spelling. */
export const pathFaults = (paths: readonly string[]): readonly PathFault[] => {
  const faults = paths.flatMap((path) => {
    const kind = faultOf(path)
    return kind === null ? [] : [{ kind, path }]
  })
  return faults.length > 0 ? faults : collisions(paths)
}

const faultOf = (path: string): 'outside' | 'odd' | null => {
  const names = path.replace(/\/$/, '').split('/') // that of a folder ends with a slash
  if (names.includes('..') || path.startsWith('/') || /^[a-z]:/i.test(path)) return 'outside'
  return path.length > longestPath || names.some(isOdd) ? 'odd' : null
}

/** The longest path of macOS; other systems allow more. */
const longestPath = 1024

/** Windows forbids these. U+FFFD stands for bytes that are not UTF-8, and a lone surrogate becomes it. */
const forbidden = /[\p{Cc}\p{Cs}\\:*?"<>|\ufffd]/u

const isOdd = (name: string): boolean =>
  name === '' || /[. ]$/.test(name) || forbidden.test(name) || isDevice(name) || Buffer.byteLength(name) > longestBytes

/** In the order of their folded forms, paths that begin alike are neighbours. */
const collisions = (paths: readonly string[]): readonly PathFault[] => {
  const placed = paths
    .map((path) => ({ path, key: folded(path).replaceAll('/', '\0') }))
    .sort((one, next) => (one.key < next.key ? -1 : Number(one.key > next.key)))
  return placed.flatMap(({ path, key }, index) => {
    const previous = placed[index - 1]
    return previous === undefined || !isSamePlace(previous, { path, key })
      ? []
      : [{ kind: 'same', path: previous.path, other: path }]
  })
}

type Placed = { readonly path: string; readonly key: string }

const isSamePlace = (one: Placed, other: Placed): boolean => {
  if (other.key === one.key || other.key.startsWith(`${one.key}\0`)) return true
  const [keys, otherKeys] = [one.key.split('\0'), other.key.split('\0')]
  const shared = keys.findIndex((key, index) => key !== otherKeys[index])
  const start = (path: string) => path.split('/').slice(0, shared).join('/')
  return start(one.path) !== start(other.path)
}

/** Upper case first, since several lower-case letters have one. */
const folded = (path: string): string => path.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC')
