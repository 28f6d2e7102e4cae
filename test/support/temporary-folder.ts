import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made = new Set<string>()

/** Removes what the tests so far have made. */
export const removeTemporaryFolders = (): void => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
  made.clear()
}

/** A private folder that is gone when the test run ends. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'app-platform-'))
  made.add(folder)
  return folder
}
