import commonPasswords from './common-passwords.txt'
import { lazily } from './remembered.ts'
import { isWellFormedText } from './text.ts'
import { encodeBase62 } from './base62.ts'

/** bcrypt reads 72 bytes, stops at NUL, and silently ignores the rest (contract section 2). */
const maximumBytes = 72
const minimumCharacters = 8

/** A password as it is measured, compared and hashed: keyboards write an accent alone or with its letter (NFC). */
export const normalPassword = (typed: string): string =>
  typed.length > longestRead ? typed.slice(0, longestRead) : typed.normalize('NFC')

/** No longer text has a normal form that bcrypt reads to its end. */
const longestRead = 1024

/** Why a password cannot be checked or stored, as a sentence; null when it can. */
export const passwordFault = (typed: string): string | null => {
  const password = normalPassword(typed)
  if (Buffer.byteLength(password) > maximumBytes) return 'The password is longer than 72 bytes.'
  if (!isWellFormedText(password)) return 'The password has characters that cannot be used.'
  if (Array.from(password).length < minimumCharacters) return 'The password has fewer than 8 characters.'
  return null
}

/** One per line, in lower case and NFKC; lines with a hash sign are comments. */
const common = lazily(
  (): ReadonlySet<string> => new Set(commonPasswords.split('\n').filter((line) => !line.startsWith('#'))),
)

/**
 * Why a password cannot be a user's new one, as a sentence; null when it can. Sign-in checks `passwordFault` only, so that
 * a password that is older than a rule still works.
 */
export const newPasswordFault = (password: string): string | null =>
  passwordFault(password) ??
  (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(password)
    ? 'The password has a line break or another character that no browser lets anybody type.'
    : null) ??
  (common().has(password.normalize('NFKC').toLowerCase())
    ? 'The password is one of the 10,000 most common ones, which are guessed first. Choose another.'
    : null)

/** What became of a link with a secret that is known; null while it works. One that was used has no time left from then on. */
export const endOfLink = (
  { endedAt, expiresAt }: { readonly endedAt: number | null; readonly expiresAt: number },
  now: number,
): 'used' | 'expired' | 'ended' | null => {
  if (endedAt === expiresAt) return 'used'
  if (endedAt !== null && endedAt < expiresAt) return 'ended'
  return expiresAt <= now ? 'expired' : null
}

/** The same in words, which only who has the whole link reads. */
export const deadLinkWords = {
  unknown: 'The link is incomplete, or so old that it is not known any more.',
  used: 'The link was used before.',
  expired: 'The link is older than 24 hours.',
  ended: 'The link was replaced by a newer one, or has ended with a change of the account.',
  taken: 'Another account has the address.',
} as const

/** Random bytes of a generated password. */
export const generatedPasswordBytes = 16

/** 128 random bits as 22 letters and digits, so that a shell needs no escapes. */
export const generatedPassword = (random: Uint8Array): string => encodeBase62(random, 22)

/** Stored in the place of a hash for a person without a password: none matches it. */
export const noPassword = ''

/** How long a link works with which a person sets a password or confirms an address. */
export const passwordLinkSeconds = 24 * 3600

/** The page that such a link opens. The secret is in the query. */
export const passwordLinkPath = '/set-password'

/** The page that a link to confirm an address opens. */
export const emailLinkPath = '/confirm-email'
