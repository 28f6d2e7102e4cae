import { hashSecret, type SecretHash } from './secret.ts'
import type { SignInRules, SignInWay } from './sign-in-rules.ts'
import { Secret, TOTP } from 'otpauth'

/** How long a person can put off setting up a required second factor after they were first asked. */
export const factorGraceMs = 7 * 24 * 3_600_000

/** Whether a second factor is required of such a person. */
export const isFactorRequired = ({ secondFactorFor }: SignInRules, isOperator: boolean): boolean =>
  secondFactorFor === 'everyone' || (secondFactorFor === 'operators' && isOperator)

/** Whether a sign-in in this way proves as much as two factors. `acr` is what the identity provider says about it. */
export const isStrongSignIn = ({ strongWays, strongAcr }: SignInRules, way: SignInWay, acr: string | null): boolean =>
  way !== 'password' && (strongWays.includes(way) || (way === 'oidc' && acr !== null && strongAcr.includes(acr)))

/** How many recovery codes a person gets at a time. */
export const recoveryCodeCount = 10

/** Base32 (RFC 4648): no digit that looks like a letter. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const digits = 16

/** Random bytes that one recovery code is made of. */
export const recoveryCodeBytes = digits

/** A recovery code of 80 random bits, in groups of four. */
export const recoveryCode = (random: Uint8Array): string =>
  Array.from(random, (byte) => alphabet[byte & 31] ?? '')
    .join('')
    .replaceAll(/.{4}(?=.)/g, '$&-')

/** The hash of a recovery code, without its dashes, for this user. It has too many random bits to be guessed, so a fast hash is enough. */
export const hashRecoveryCode = (userId: string, code: string): SecretHash => hashSecret(`${userId} ${code}`)

/** A code as it is compared: of an authenticator app, or a recovery code. */
type TypedCode = { readonly kind: 'totp' | 'recovery'; readonly code: string } | { readonly kind: 'neither' }

/**
 * What a person typed as a code. Digits of every script count, and spaces, dashes and invisible characters do not. The check and
 * the limits on guessing both read a code by this, so nothing can be checked without being counted.
 */
export const readCode = (typed: string): TypedCode => {
  const code = typed
    .slice(0, longestTyped)
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\p{Z}\p{Pd}\p{C}\p{Default_Ignorable_Code_Point}\u2212]/gu, '')
    .replaceAll(/\p{Nd}/gu, (digit) => String(valueOf(digit)))
  if (/^\d{6}$/.test(code)) return { kind: 'totp', code }
  return isRecoveryCode.test(code) ? { kind: 'recovery', code } : { kind: 'neither' }
}

/** A longer text is no code. */
const longestTyped = 200
const isRecoveryCode = new RegExp(`^[${alphabet}]{${digits}}$`)

/** Unicode has the ten digits of each script in a row, with zero first. */
const valueOf = (digit: string): number => {
  const at = digit.codePointAt(0) ?? 0
  let below = 0
  while (/^\p{Nd}$/u.test(String.fromCodePoint(at - below - 1))) below += 1
  return below % 10
}

// The codes of authenticator apps (RFC 6238), with the values that every app knows: SHA-1, six digits, 30 seconds.

/** As long as a hash of SHA-1 (RFC 4226 section 4). */
export const totpKeyBytes = 20
const period = 30
/** Codes of the step before and the step after are accepted too, because clocks differ (RFC 6238 section 5.2). */
const window = 1

const totpOf = (key: Uint8Array, more: { readonly issuer?: string; readonly label?: string } = {}): TOTP =>
  new TOTP({
    ...more,
    secret: new Secret({ buffer: new Uint8Array(key).buffer }),
    algorithm: 'SHA1',
    digits: 6,
    period,
  })

/** The time step of a moment, in epoch milliseconds. */
export const totpStepAt = (now: number): number => Math.floor(now / 1000 / period)

/** The time step that a code belongs to; null for a wrong code. `now` is epoch milliseconds. */
export const stepOfTotpCode = (key: Uint8Array, typed: TypedCode, now: number): number | null => {
  if (typed.kind !== 'totp') return null
  const distance = totpOf(key).validate({ token: typed.code, timestamp: now, window })
  return distance === null ? null : totpStepAt(now) + distance
}

/** What a QR code tells an authenticator app. A colon stands between the issuer and the account, so that neither has one of its own. */
export const totpAddress = (key: Uint8Array, issuer: string, email: string): string =>
  totpOf(key, { issuer: withoutColons(issuer), label: withoutColons(email) }).toString()

const withoutColons = (text: string): string => text.replaceAll(/\s*:\s*/g, ' ').trim()

/** The key as people type it: base32 in groups of four. */
export const totpKeyText = (key: Uint8Array): string => (totpOf(key).secret.base32.match(/.{1,4}/g) ?? []).join(' ')
