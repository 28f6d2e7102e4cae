import { noPassword, normalPassword } from '../domain/password.ts'
import { createFairLine, type PlaceInLine } from './waiting-line.ts'

/** bcrypt for people's passwords only; machine secrets are long and random and need no slow hash (contract section 2). */
export type Passwords = {
  /**
   * Loads bcrypt, which otherwise happens with the first hash. It is native code, so the program writes it into the
   * folder for temporary files and loads it from there.
   * @throws PasswordsUnusable when that folder accepts no such file
   */
  load(): Promise<void>
  hash(password: string): Promise<string>
  /** Null stands for an unknown user, `noPassword` for one who has none: false, after as long as a real hash takes. */
  matches(password: string, hash: string | null): Promise<boolean>
  /** The same for a caller who waits at this place in line. Without it, all callers together have the place of one stranger. */
  inLineAs(place: PlaceInLine): Passwords
}

/** Passwords cannot be hashed, so no user could sign in. The message is a sentence for the operator. */
export class PasswordsUnusable extends Error {
  constructor(cause: unknown) {
    const library = missingLibraryIn(cause)
    super(
      library === null
        ? 'Passwords cannot be hashed: the folder for temporary files (TMPDIR) must allow executable files. Name a folder that does in BUN_TMPDIR.'
        : `Passwords cannot be hashed: this machine has no ${library}. Install the package that contains it: ${packageOf(library)}.`,
      { cause },
    )
  }
}

/** The shared library that the loader of glibc or of musl did not find for bcrypt; small container images lack some. */
const missingLibraryIn = (error: unknown): string | null => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const [, library] = /(lib[\w+-]+\.so[.\d]*): (?:cannot open shared|No such file)/.exec(cause.message) ?? []
    if (library !== undefined) return library
  }
  return null
}

const packageOf = (library: string): string =>
  library.startsWith('libgcc_s')
    ? 'libgcc-s1 on Debian, libgcc on Alpine and Fedora'
    : 'libc6 on Debian, glibc on Fedora'

const loadBcrypt = async () => {
  try {
    return await import('@node-rs/bcrypt')
  } catch (error) {
    throw new PasswordsUnusable(error)
  }
}

/** After so long a wait the caller has probably left, and hashing would only delay the others. */
const patienceMs = 5_000

/** A hash that no known password has, for users that do not exist. It must cost what a real one does. */
export const hashOfNobody = (cost: number): string =>
  `$2b$${String(cost).padStart(2, '0')}$abcdefghijklmnopqrstuuCkpmqmlPVZV6rLP7PPrBtkU9bv3iVhe`

type PasswordOptions = {
  readonly cost: number
  /** How long a caller waits in line; 5 seconds by default. */
  readonly longestWaitMs?: number
}

/**
 * Bcrypt runs on the thread pool that also syncs the database, so one hash runs at a time and the rest wait in line; when the
 * line is full, `unavailable` is thrown.
 */
export const createPasswords = ({ cost, longestWaitMs = patienceMs }: PasswordOptions): Passwords => {
  const nobody = hashOfNobody(cost)
  const line = createFairLine({ longestWaitMs, monotonicMs: () => performance.now() })

  const forCaller = (place: PlaceInLine): Passwords => {
    const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
      const leave = await line.enter(place)
      try {
        return await work()
      } finally {
        leave()
      }
    }
    return {
      load: async () => void (await loadBcrypt()),
      hash: async (password) => {
        const bcrypt = await loadBcrypt()
        return await inTurn(async () => await bcrypt.hash(normalPassword(password), cost))
      },
      matches: async (password, storedHash) => {
        const bcrypt = await loadBcrypt()
        return await inTurn(async () => {
          const known = storedHash === null || storedHash === noPassword ? null : storedHash
          const isRight = (await bcrypt.verify(normalPassword(password), known ?? nobody)) && known !== null
          if (!isRight) line.failed(place) // before the turn ends, which chooses the next caller
          return isRight
        })
      },
      inLineAs: forCaller,
    }
  }
  return forCaller({ network: 'unnamed', account: 'unnamed', knownAs: null })
}
