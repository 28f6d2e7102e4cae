import { isWellFormedText } from './well-formed.ts'

/** bcrypt reads 72 bytes, stops at NUL, and would drop the rest in silence (contract section 2). */
const maximumBytes = 72
const minimumCharacters = 8

/** Why a password cannot be used, as a sentence; null when it can. */
export const passwordFault = (password: string): string | null => {
  if (Buffer.byteLength(password) > maximumBytes) return 'The password is longer than 72 bytes.'
  if (!isWellFormedText(password)) return 'The password has characters that cannot be used.'
  if (Array.from(password).length < minimumCharacters) return 'The password has fewer than 8 characters.'
  return null
}
