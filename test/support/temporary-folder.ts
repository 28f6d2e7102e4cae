import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made = new Set<string>()

/** Removes what the tests so far have made. */
export const removeTemporaryFolders = (): void => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
  made.clear()
}

/** Half of the time of the inner suite was spent waiting for the disk, so it uses a file system in memory where there is one. */
const inMemory = '/dev/shm'
const usesMemory = (): boolean => {
  if (process.env['TEST_SUITE'] === 'all' || process.env['TMPDIR'] !== undefined || !existsSync(inMemory)) return false
  const { bavail, bsize } = statfsSync(inMemory)
  return bavail * bsize > 500e6
}
const parent = usesMemory() ? inMemory : tmpdir()

/** A private folder that is gone when the test run ends. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(parent, 'app-platform-'))
  made.add(folder)
  return folder
}
