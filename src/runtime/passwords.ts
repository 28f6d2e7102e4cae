import { type PlatformError, refuse } from '../domain/errors.ts'

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

/** Hashes that may wait in line; at a sixth of a second each, whoever comes after them had better come again. */
const longestLine = 60
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

type Waiting = {
  readonly begin: () => void
  readonly leave: (refusal: PlatformError) => void
  readonly since: number
}

/** The first who has not waited too long; those before are told to come again. */
const nextInLine = (waiting: Waiting[], longestWaitMs: number): Waiting | undefined => {
  for (;;) {
    const next = waiting.shift()
    if (next === undefined || performance.now() - next.since <= longestWaitMs) return next
    next.leave(refuse('unavailable', { retryAfterSeconds: 10 }))
  }
}

/**
 * Bcrypt runs on the thread pool that also syncs the database, so at most `parallel` hashes run at once and the rest
 * wait in line; when the line is long, `unavailable` is thrown.
 */
export const createPasswords = (options: PasswordOptions): Passwords => {
  const nobody = hashOfNobody(options.cost)
  const waiting: Waiting[] = []
  let running = 0

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting.length >= longestLine) throw refuse('unavailable', { retryAfterSeconds: 10 })
    if (running >= options.parallel)
      await new Promise<void>((begin, leave) => waiting.push({ begin, leave, since: performance.now() }))
    else running += 1
    try {
      return await work()
    } finally {
      const next = nextInLine(waiting, options.longestWaitMs ?? patienceMs)
      if (next === undefined) running -= 1
      else next.begin()
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
      const matched = await inTurn(async () => await bcrypt.verify(password, storedHash ?? nobody))
      return matched && storedHash !== null
    },
  }
}
