import type { SignedIn } from '../../src/operations/sessions/entry.ts'
import { signIn as signInWithPassword } from '../../src/operations/sessions/sign-in.ts'

/** Signs in somebody whose password is enough. */
export const signIn = async (...given: Parameters<typeof signInWithPassword>): Promise<SignedIn> => {
  const entry = await signInWithPassword(...given)
  if (entry.kind === 'pending') throw new Error('A second factor is needed.')
  return entry
}
