/** Why a password cannot be used, as a sentence; null when it can. bcrypt reads 72 bytes and would drop the rest. */
export const passwordFault = (password: string): string | null => {
  if (!password.isWellFormed() || password.includes('\0')) return 'The password has characters that cannot be used.'
  if (password.length < 8) return 'The password has fewer than 8 characters.'
  if (Buffer.byteLength(password) > 72) return 'The password is longer than 72 bytes.'
  return null
}
