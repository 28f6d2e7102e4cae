import { createHmac } from 'node:crypto'
import { encodeBase62 } from './base62.ts'
import { type RowKey, toleratedAheadMs, uuidTimeOfKey } from './identifier.ts'
import { hashSecret, mintSecret, parseSecret, sameHash, secretDigits } from './secret.ts'

/** The ways in which people sign in; the first one is used unless a person chooses another. */
export const signInWays = ['password', 'handover', 'oidc'] as const
export type SignInWay = (typeof signInWays)[number]

/** Who may sign in with a password stored here. */
export const passwordAudiences = ['everyone', 'operators', 'nobody'] as const

/** What shows that the identity provider has asked a person again: its `auth_time`, or that it was told to by `prompt=login`. */
export const providerProofs = ['auth_time', 'prompt'] as const

/** Of whom a second factor is required. */
export const factorAudiences = ['nobody', 'operators', 'everyone'] as const

export type SignInRules = {
  readonly ways: readonly SignInWay[]
  /** The page of the builder that signs people in. Use `builderPage`. */
  readonly handoverUrl: string | null
  /** Where people are sent after they have signed out; null: to the sign-in page. */
  readonly signOutUrl: string | null
  readonly passwordFor: (typeof passwordAudiences)[number]
  /** The name of the identity provider on the sign-in page. */
  readonly providerName: string
  /** Whether people who come from the identity provider for the first time get an account. */
  readonly createsUsers: boolean
  /** Whether they get the account that has their verified address. */
  readonly linksByEmail: boolean
  readonly providerProof: (typeof providerProofs)[number]
  readonly secondFactorFor: (typeof factorAudiences)[number]
  /** The ways that count as two factors: no code is asked for after them. */
  readonly strongWays: readonly SignInWay[]
  /** What the identity provider says (`acr`) of a sign-in that counts as two factors. */
  readonly strongAcr: readonly string[]
}

/** Where the builder takes over; null unless this is one of the ways. */
export const builderPage = ({ ways, handoverUrl }: SignInRules): string | null =>
  ways.includes('handover') ? handoverUrl : null

/** Whether a password opens an account of this kind. */
export const mayUsePassword = (
  { ways, passwordFor }: Pick<SignInRules, 'ways' | 'passwordFor'>,
  isOperator: boolean,
): boolean => {
  if (isOperator) return passwordFor !== 'nobody' // or nobody could sign in while the builder is down
  return ways.includes('password') && passwordFor === 'everyone'
}

/** The ways that such a person has beside those of this server. The builder signs in no operators. */
export const waysElsewhere = ({ ways }: SignInRules, isOperator: boolean) =>
  ways.flatMap((way) => (way === 'password' || (way === 'handover' && isOperator) ? [] : [way]))

/** Where such a person signs in elsewhere, by its name if it is the only place; null if there is none. */
export const otherSite = (rules: SignInRules, builderName: string | null, isOperator: boolean): string | null => {
  const [way, ...others] = waysElsewhere(rules, isOperator)
  if (way === undefined) return null
  if (others.length > 0) return 'another site'
  return way === 'oidc' ? rules.providerName : (builderName ?? 'the website builder')
}

/** What operators confirm with that it is them, besides what another service says. */
export const operatorProofs = (rules: SignInRules): string =>
  mayUsePassword(rules, true)
    ? 'a password, an authenticator app or a passkey of this server'
    : 'an authenticator app or a passkey of this server'

/** Whether the sign-in page has a form for passwords at all. */
export const hasPasswordForm = (rules: SignInRules): boolean => mayUsePassword(rules, true)

/** How long the builder has to say who somebody is. */
export const signInRequestSeconds = 600

/**
 * The request that a browser takes to the builder: `apsr_`, a key with the time, and digits that only this server can make.
 * Nothing is stored until the builder answers, so visitors cannot fill the database.
 */
export const signInRequest = (serverKey: Uint8Array, key: RowKey): string => {
  const mac = createHmac('sha256', serverKey).update('sign-in request ').update(key).digest()
  return mintSecret({ kind: 'signInRequest', key, digits: encodeBase62(mac, secretDigits) })
}

/** The key of a genuine request that has not expired; else null. `now` is epoch milliseconds. */
export const readSignInRequest = (serverKey: Uint8Array, text: string, now: number): RowKey | null => {
  const parsed = parseSecret('signInRequest', text)
  if (parsed === null || !sameHash(parsed.hash, hashSecret(signInRequest(serverKey, parsed.key)))) return null
  const age = now - uuidTimeOfKey(parsed.key)
  return age >= -toleratedAheadMs && age < signInRequestSeconds * 1000 ? parsed.key : null
}
