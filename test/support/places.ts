/** What makes the places of files unusable, for real: users, mounts and limits of their own. */

export const isRoot = process.getuid?.() === 0
export const mayMount =
  isRoot && Bun.spawnSync(['unshare', '-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).exitCode === 0
if (!isRoot) console.warn('The tests of files of another user are skipped: they need root.')
if (!mayMount) console.warn('The tests of mounted files and of inodes are skipped: they need the right to mount.')

/** Runs what follows after a line of the shell with these words as $1, $2 …, in a mount namespace that ends with it. */
export const after = (line: string, ...words: readonly string[]): readonly string[] =>
  ['unshare', '-m', 'sh', '-c', `${line} && shift ${words.length} && exec "$@"`, 'sh'].concat(words)
