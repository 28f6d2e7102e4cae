import { hash, verify } from '@node-rs/bcrypt'

/** bcrypt for people's passwords only; machine secrets are long and random and need no slow hash (contract section 2). */
export type Passwords = {
  hash(password: string): Promise<string>
  /** Against null, for an unknown user, it takes as long as against a real hash and gives false. */
  matches(password: string, hash: string | null): Promise<boolean>
}

/** A hash of nothing anyone knows, at the same cost, for users that do not exist. */
const nobody = '$2b$12$abcdefghijklmnopqrstuuCkpmqmlPVZV6rLP7PPrBtkU9bv3iVhe'

/**
 * Bcrypt runs on the thread pool that also syncs the database, so at most `parallel` hashes run at once and the rest
 * wait in line.
 */
export const createPasswords = (options: { readonly cost: number; readonly parallel: number }): Passwords => {
  const waiting: (() => void)[] = []
  let running = 0

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= options.parallel) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }

  return {
    hash: async (password) => await inTurn(async () => await hash(password, { cost: options.cost })),
    matches: async (password, storedHash) => {
      const matched = await inTurn(async () => await verify(password, storedHash ?? nobody))
      return matched && storedHash !== null
    },
  }
}
