import { createFairLine, type PlaceInLine } from './fair-line.ts'

/** bcrypt for people's passwords only; machine secrets are long and random and need no slow hash (contract section 2). */
export type Passwords = {
  /**
   * Loads what hashes, which else happens with the first hash. It is machine code and cannot be run from within the
   * program: it is put into the folder for temporary files.
   * @throws PasswordsUnusable when that folder takes no such file
   */
  load(): Promise<void>
  hash(password: string): Promise<string>
  /** Against null, for an unknown user, it takes as long as against a real hash and gives false. */
  matches(password: string, hash: string | null): Promise<boolean>
  /** The same for a caller from outside, who waits in line; without it, for an operator. */
  inLineAs(place: PlaceInLine): Passwords
}

/** Nobody could sign in. The message is a sentence for the operator. */
export class PasswordsUnusable extends Error {
  constructor(cause: unknown) {
    super(
      'Passwords cannot be hashed: the folder for temporary files (TMPDIR) has to take a file that may be executed. ' +
        'Name such a folder in BUN_TMPDIR.',
      { cause },
    )
  }
}

const loadBcrypt = async () => {
  try {
    return await import('@node-rs/bcrypt')
  } catch (error) {
    throw new PasswordsUnusable(error)
  }
}

/** Whoever has waited so long may well have left; hashing for them would keep those waiting who have not. */
const patienceMs = 5_000

/** A hash of nothing anyone knows, for users that do not exist; it must cost what a real one does. */
export const hashOfNobody = (cost: number): string =>
  `$2b$${String(cost).padStart(2, '0')}$abcdefghijklmnopqrstuuCkpmqmlPVZV6rLP7PPrBtkU9bv3iVhe`

type PasswordOptions = {
  readonly cost: number
  readonly parallel: number
  /** How long anyone waits in line; 5 seconds unless said otherwise. */
  readonly longestWaitMs?: number
}

/**
 * Bcrypt runs on the thread pool that also syncs the database, so at most `parallel` hashes run at once and the rest
 * wait in line; when the line is long, `unavailable` is thrown.
 */
export const createPasswords = (options: PasswordOptions): Passwords => {
  const nobody = hashOfNobody(options.cost)
  const { parallel, longestWaitMs = patienceMs } = options
  const line = createFairLine({ parallel, longestWaitMs, monotonicMs: () => performance.now() })

  const forCaller = (place: PlaceInLine | null): Passwords => {
    const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
      await line.enter(place)
      try {
        return await work()
      } finally {
        line.leave(place)
      }
    }
    return {
      load: async () => void (await loadBcrypt()),
      hash: async (password) => {
        const bcrypt = await loadBcrypt()
        return await inTurn(async () => await bcrypt.hash(password, { cost: options.cost }))
      },
      matches: async (password, storedHash) => {
        const bcrypt = await loadBcrypt()
        return await inTurn(async () => {
          const matched = await bcrypt.verify(password, storedHash ?? nobody)
          const isRight = matched && storedHash !== null
          if (!isRight && place !== null) line.failed(place) // before the turn ends, or the network would be next again
          return isRight
        })
      },
      inLineAs: forCaller,
    }
  }
  return forCaller(null)
}
