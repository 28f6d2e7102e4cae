import { statSync } from 'node:fs'

const identity = (path: string): string | null => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.dev}:${found.ino}` : null
}

/**
 * Tells whether the names still lead to the files that are open. SQLite does not notice in WAL mode: writes into a
 * deleted file succeed and are lost. A number cannot be reused while we hold its file open. Looks by name only, opens
 * nothing.
 */
export class FileGuard {
  readonly #expected: readonly (readonly [path: string, identity: string | null])[]

  constructor(files: readonly string[]) {
    this.#expected = files.map((path) => [path, identity(path)])
  }

  /** A sentence about the first file that is gone or another one, or null. */
  fault(): string | null {
    for (const [path, expected] of this.#expected) {
      const found = identity(path)
      if (found === null) return `${path} was deleted under the running server.`
      if (found !== expected) return `${path} was replaced under the running server.`
    }
    return null
  }
}
