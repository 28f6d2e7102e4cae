import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made = new Set<string>()

/** Removes the folders that the tests created so far. */
export const removeTemporaryFolders = (): void => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
  made.clear()
}

/** The inner suite would spend half of its time waiting for the disk, so it uses a file system in memory if there is one. */
const inMemory = '/dev/shm'
const usesMemory = (): boolean => {
  if (process.env['TEST_SUITE'] === 'all' || process.env['TMPDIR'] !== undefined || !existsSync(inMemory)) return false
  const { bavail, bsize } = statfsSync(inMemory)
  return bavail * bsize > 500e6
}
/** The folder in which tests make theirs. */
export const parentOfFolders = usesMemory() ? inMemory : tmpdir()

/** A private folder that is removed when the test run ends; with `test/run.ts`, when the test file ends. */
export const temporaryFolder = (parent = parentOfFolders): string => {
  const folder = mkdtempSync(join(parent, 'app-platform-'))
  made.add(folder)
  return folder
}

/** One for what a process makes once for all of its test files. It is removed when the test run ends. */
export const lastingFolder = (): string => {
  const parent = process.env['TEST_FOLDER']
  return parent === undefined ? temporaryFolder() : mkdtempSync(join(parent, 'process-'))
}
