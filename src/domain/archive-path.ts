import { isDevice, longestBytes } from './download-name.ts'

/** Why a path cannot be unpacked into a folder on every system. */
export type PathFault =
  | { readonly kind: 'outside' | 'odd'; readonly path: string }
  /** Both are one path where the case of letters or their Unicode form does not count, or a file is in the place of a folder. */
  | { readonly kind: 'same'; readonly path: string; readonly other: string }

/** What is wrong with the paths of the files in an archive. Every folder and file must have one spelling. */
export const pathFaults = (paths: readonly string[]): readonly PathFault[] => {
  const odd = new Map<string, boolean>() // thousands of files are in few folders
  const faults = paths.flatMap((path) => {
    const kind = faultOf(path, odd)
    return kind === null ? [] : [{ kind, path }]
  })
  return faults.length > 0 ? faults : collisions(paths)
}

const faultOf = (path: string, odd: Map<string, boolean>): 'outside' | 'odd' | null => {
  const names = path.replace(/\/$/, '').split('/') // that of a folder ends with a slash
  if (names.includes('..') || path.startsWith('/') || /^[a-z]:/i.test(path)) return 'outside'
  if (path.length > longestPath) return 'odd'
  for (const name of names) {
    const known = odd.get(name) ?? isOdd(name)
    odd.set(name, known)
    if (known) return 'odd'
  }
  return null
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

/** Whether two neighbours are one path on some systems, or are in one folder that has two spellings. */
const isSamePlace = (one: Placed, other: Placed): boolean => {
  if (other.key === one.key || other.key.startsWith(`${one.key}\0`)) return true
  let [at, start, otherStart] = [0, 0, 0]
  for (;;) {
    const next = one.key.indexOf('\0', at) + 1
    if (next === 0 || !other.key.startsWith(one.key.slice(at, next), at)) return false
    const [end, otherEnd] = [one.path.indexOf('/', start) + 1, other.path.indexOf('/', otherStart) + 1]
    if (one.path.slice(start, end) !== other.path.slice(otherStart, otherEnd)) return true
    at = next
    start = end
    otherStart = otherEnd
  }
}

/** Upper case first, since several lower-case letters have one. */
const folded = (path: string): string =>
  /^[ -~]*$/.test(path) ? path.toLowerCase() : path.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC')

/** Names of files that hold secrets. Samples of such files, to be filled in by others, are allowed. */
const secretNames = [
  /^\.env(rc|~|[.-].+)?$/,
  /\.env$/,
  /\.(pem|key|p8|p12|pfx|jks|keystore|ppk|kdbx|asc|gpg)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?(~|\.(?!pub$).+)?$/,
  /^\.(npmrc|pypirc|netrc|htpasswd|git-credentials|pgpass|dockercfg)$/,
  /^_netrc$/,
  /^\.dockerconfigjson$/,
  /^credentials$/,
  /^(client_secret|service[-_]?account|credentials)[^/]*\.json$/,
] as const
const samples = /^(\.env[.-](example|sample|template|dist)|(example|sample|template)\.env)$/

/** Whether a file of this name must not be uploaded. */
export const isSecretName = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  return !samples.test(name) && secretNames.some((pattern) => pattern.test(name))
}
