import { lstatSync, readFileSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseUnusable } from '../database.ts'
import { assertOneName } from './one-name.ts'
import { companionsOf } from './private-file.ts'

/**
 * Looks at a database and what stands beside it before anything is opened: what SQLite says of a file that it cannot open
 * names none. Expects the canonical path.
 * @throws DatabaseUnusable with what to do, or an error with `code` EACCES and `path` for a file of another user
 */
export const assertPlace = (file: string): void => {
  assertOneName(file)
  assertNotMountedAlone(file)
  const { wal, shm, lock, acknowledged } = companionsOf(file)
  for (const path of [file, wal, shm, lock, acknowledged]) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found !== undefined) assertOurs(path, found)
  }
}

const readAndWrite = 0o600

const assertOurs = (path: string, found: Stats): void => {
  if (!found.isFile()) {
    throw new DatabaseUnusable(
      'foreign',
      `${path} is a folder, a link, a pipe or a device, not a file of the database: move it away.`,
    )
  }
  const user = process.geteuid?.() ?? 0
  if (user === 0) return // root may use every file
  if (found.uid !== user) {
    const code = 'EACCES'
    throw Object.assign(new Error(`${code}: a file of another user`), { code, path })
  }
  if ((found.mode & readAndWrite) !== readAndWrite) {
    throw new DatabaseUnusable('not_private', `Its owner may not read and write ${path}: run chmod 600 ${path}.`)
  }
}

/**
 * A file that is mounted by itself, as containers do with `-v app.db:/data/app.db`, has its WAL and its lock outside of the
 * mount: they go with the container, and another one that mounts the file has others.
 */
const assertNotMountedAlone = (file: string): void => {
  if (!mountPoints().includes(file)) return
  throw new DatabaseUnusable(
    'unsupported',
    `${file} is mounted by itself, without the files that belong beside it, which would be lost: ` +
      `mount its folder instead, as with docker run -v FOLDER:${dirname(file)}.`,
  )
}

/** Linux alone lists them (proc_pid_mountinfo(5)). */
const mountPoints = (): readonly string[] => {
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    return lines.map((line) => unescaped(line.split(' ')[4] ?? ''))
  } catch {
    return []
  }
}

const unescaped = (path: string): string =>
  path.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
