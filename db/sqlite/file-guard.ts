import { statSync } from 'node:fs'

type Found = { readonly identity: string } | 'nothing' | 'out of reach'

const lookAt = (path: string): Found => {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found ? { identity: `${found.dev}:${found.ino}` } : 'nothing'
  } catch {
    return 'out of reach' // no right to look, a name that leads to itself, a disk that fails
  }
}

const identityOf = (found: Found): string | null => (typeof found === 'object' ? found.identity : null)

/**
 * Tells whether the names still lead to the files that are open. SQLite does not notice in WAL mode: writes into a
 * deleted file succeed and are lost. A number cannot be reused while we hold its file open. Looks by name only, opens
 * nothing.
 */
export class FileGuard {
  readonly #expected: readonly (readonly [path: string, identity: string | null])[]

  constructor(files: readonly string[]) {
    this.#expected = files.map((path) => [path, identityOf(lookAt(path))])
  }

  /** A sentence about the first file that is gone or another one, or null. */
  fault(): string | null {
    for (const [path, expected] of this.#expected) {
      const found = lookAt(path)
      if (found === 'nothing') return `${path} was deleted under the running server.`
      if (found === 'out of reach') return `${path} went out of reach under the running server.`
      if (found.identity !== expected) return `${path} was replaced under the running server.`
    }
    return null
  }
}
