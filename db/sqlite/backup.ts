import { existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseUnusable } from '../database.ts'
import { Connection } from './connection.ts'
import { canonicalPath, companionsOf, createPrivately, syncFile, syncFolderOf } from './files.ts'
import { startThread } from './thread.ts'

/**
 * Copies what is committed now into one file: complete and durable under its name, or not there at all. Runs inside
 * SQLite and so stops this process meanwhile (about 2 ms per MB); other processes go on.
 */
export const backUp = (source: Connection, to: string, options: { readonly replace: boolean }): void => {
  const target = canonicalPath(to)
  const database = canonicalPath(source.filename)
  if ([database, ...Object.values(companionsOf(database))].includes(target)) {
    throw new DatabaseUnusable('exists', `${target} belongs to the database itself: choose another name.`)
  }
  if (!options.replace && existsSync(target)) throw alreadyThere(target)
  removeLeftovers(dirname(target))
  const unfinished = unfinishedName(target)
  createPrivately(unfinished)
  try {
    copyInto(source, unfinished)
    assertWhole(unfinished)
    syncFile(unfinished)
    if (options.replace) renameSync(unfinished, target)
    else claimName(unfinished, target)
    syncFolderOf(target)
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/** For a copy that is being made. It names the process, so that the next backup can tell what a killed one left. */
export const unfinishedName = (target: string): string => `${target}.${process.pid}-${crypto.randomUUID()}.unfinished`

const unfinishedPattern = /\.(?:(\d+)-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.unfinished(?:-journal)?$/

/** A backup that runs writes all the time. In a container the number of its process may be that of another one. */
const longestPauseMs = 60 * 60 * 1_000

/** Of backups into this folder that were killed. */
const removeLeftovers = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const found = unfinishedPattern.exec(name)
    if (found === null) continue
    const path = join(folder, name)
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    const isOld = Date.now() - changedAt > longestPauseMs
    if (isOld || (found[1] !== undefined && !isRunning(Number(found[1])))) rmSync(path, { force: true })
  }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH') // it may be another user's
  }
}

/** A helper for the disk that fails is no reason to do without a backup. */
const copyInto = (source: Connection, unfinished: string): void => {
  const flusher = startThread('flush-worker.ts')
  flusher.addEventListener('error', () => {})
  flusher.postMessage(unfinished, [])
  try {
    using copy = source.prepare<unknown, [string]>('VACUUM INTO ?')
    copy.run(unfinished)
  } finally {
    flusher.terminate()
  }
}

const alreadyThere = (target: string) =>
  new DatabaseUnusable('exists', `${target} exists already and was left as it is.`)

/** Unlike a rename, a link never replaces what came to be there meanwhile. */
const claimName = (unfinished: string, target: string): void => {
  try {
    linkSync(unfinished, target)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw alreadyThere(target)
    throw error
  }
}

const assertWhole = (copy: string): void => {
  const connection = new Connection(copy, { readonly: true })
  try {
    const verdict = connection.value('PRAGMA quick_check(1)')
    if (verdict !== 'ok') throw new DatabaseUnusable('damaged', `The copy is damaged: ${String(verdict)}.`)
  } finally {
    connection.close()
  }
}
