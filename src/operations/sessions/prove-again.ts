import { refuse } from '../../domain/errors.ts'
import { passwordFault } from '../../domain/password.ts'
import { clockLeewayMs } from '../../domain/identity-claims.ts'
import { readCode } from '../../domain/second-factor.ts'
import { mayUsePassword, operatorProofs, waysElsewhere } from '../../domain/sign-in-rules.ts'
import type { Claims } from '../../runtime/identity-provider.ts'
import { refusalIfEnded } from '../acting-as.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { decide, type OpenChange } from '../decide.ts'
import { useCode } from '../factors/factors.ts'
import { allowsPasskeys, asked, checkPasskey, type PasskeyAnswer, usePasskey } from '../factors/passkeys.ts'
import type { Platform, Trace } from '../platform.ts'
import { inspectUser } from '../users/find-user.ts'
import { type Returned, takeAnswer } from './handover.ts'

/** What a person proves it with. Recovery codes are for the sign-in alone. */
export type ProofGiven =
  | { readonly kind: 'password' | 'code'; readonly text: string }
  | { readonly kind: 'passkey'; readonly answer: PasskeyAnswer }

/** What this person can prove it with. Operators need something of this server: a password, an authenticator app or a passkey. */
export const meansOf = async (platform: Platform, { user }: SessionCaller) => {
  const { factors, email } = await inspectUser(platform, user.id)
  const password = user.hasPassword
  const passkey = factors.passkeys.length > 0 && allowsPasskeys(platform)
  const code = factors.totp !== null
  return {
    email,
    password,
    code,
    passkey,
    /** Without one of these, a fresh sign-in is enough to set up the first one. */
    hasSome: password || code || passkey,
    /** The ways of signing in elsewhere, which may ask the person again and say so. */
    elsewhere: user.isOperator ? [] : waysElsewhere(platform.signIn, false),
  }
}

/**
 * Checks that the caller is still the person who signed in: by their password, a passkey, or a code of their authenticator
 * app. The last two are used up.
 * @throws invalid_login, login_required
 */
export const proveAgain = async (platform: Platform, trace: Trace, caller: SessionCaller, proof: ProofGiven) => {
  const { kind } = proof
  const text = proof.kind === 'passkey' ? '' : proof.text
  const checked =
    proof.kind === 'passkey' ? await checkPasskey(platform, asked.again(caller.user.id), proof.answer) : null
  const user = await platform.database.queries.users.byId(caller.user.id)
  const isPassword = kind === 'password' && mayUsePassword(platform.signIn, caller.user.isOperator)
  const checkable = isPassword && passwordFault(text) === null && user !== null
  const hash = checkable ? user.passwordHash : null
  const matches = isPassword && (await platform.passwords.matches(checkable ? text : '', hash)) && checkable
  await decide(platform, trace, { actor: actorOf(caller) }, async (change) => {
    const { q, record } = change
    const ended = await refusalIfEnded(platform, change, caller)
    if (ended !== null) return ended
    const current = await q.users.byId(caller.user.id)
    const isSame = matches && current?.passwordHash === hash
    const isCode = kind === 'code' && readCode(text).kind === 'totp'
    const untaken = checked === null ? 'passkey_unknown' : await usePasskey(change, checked)
    if (isSame || untaken === null || (isCode && (await useCode(change, caller.user.id, text)) !== null)) {
      await record({ action: 'session.proved', target: caller.sessionKey, detail: { with: kind } })
      return undefined
    }
    const detail = kind === 'passkey' ? { detail: { with: kind, reason: untaken } } : {}
    await record({ action: 'session.prove', target: caller.user.id, refusedWith: 'invalid_login', ...detail })
    return refuse('invalid_login', { param: kind, message: wrong[kind] })
  })
}

const wrong = {
  password: 'The password is wrong.',
  code: 'The code is wrong, or it was used before. Wait for the next one.',
  passkey: 'This passkey was not accepted. Try again, or prove it in another way.',
} as const

/** What the identity provider says, and since when it must have asked the person (epoch milliseconds). */
type ProviderProof = { readonly claims: Claims; readonly since: number }

/**
 * The same by the identity provider, which must have asked the person again (`max_age=0`, OpenID Connect Core section 3.1.2.1). With
 * `OIDC_PROOF=prompt` it was also told to by `prompt=login`, and need not say when it asked.
 * @throws invalid_login for somebody else, and if the provider has not asked or does not say so; login_required
 */
export const proveByProvider = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  { claims: { issuer, subject, askedAt, issuedAt }, since }: ProviderProof,
): Promise<void> =>
  await proveElsewhere(platform, trace, caller, 'oidc', async ({ q }) => {
    if ((await q.identities.find(issuer, subject))?.userId !== caller.user.id) return 'other_person'
    if (askedAt === null) return platform.signIn.providerProof === 'prompt' ? null : 'not_told'
    if (askedAt >= since - clockLeewayMs) return null
    return issuedAt < since - clockLeewayMs ? 'clock_behind' : 'not_asked'
  })

/**
 * The same by the builder, which must say that it has asked the person again. Returns when it said so: the browser may come back
 * minutes later.
 * @throws invalid_login for somebody else, if the builder has not asked, and for an answer that is not for this browser;
 *   login_required
 */
export const proveByBuilder = async (platform: Platform, trace: Trace, caller: SessionCaller, came: Returned) => {
  let askedAt = 0
  await proveElsewhere(platform, trace, caller, 'handover', async ({ q, now }) => {
    const answer = await takeAnswer(q, came, now)
    if (answer === null) return 'not_completed'
    if (answer.userId === null) return 'rejected'
    if (answer.userId !== caller.user.id) return 'other_person'
    askedAt = answer.decidedAt
    return answer.wasAsked ? null : 'not_asked'
  })
  return askedAt
}

/** Records the proof, or why it is none. */
const proveElsewhere = async (
  platform: Platform,
  trace: Trace,
  caller: SessionCaller,
  way: 'oidc' | 'handover',
  faultIn: (change: OpenChange) => Promise<keyof typeof notProved | 'operator' | null>,
): Promise<void> =>
  await decide(platform, trace, { actor: actorOf(caller) }, async (change) => {
    const { record } = change
    const ended = await refusalIfEnded(platform, change, caller)
    if (ended !== null) return ended
    const reason = caller.user.isOperator ? 'operator' : await faultIn(change)
    if (reason === null) {
      await record({ action: 'session.proved', target: caller.sessionKey, detail: { with: way } })
      return undefined
    }
    const detail = { with: way, reason }
    const message =
      reason === 'operator' ? `Operators confirm with ${operatorProofs(platform.signIn)}.` : notProved[reason]
    await record({ action: 'session.prove', target: caller.user.id, refusedWith: 'invalid_login', detail })
    return refuse('invalid_login', { message, details: { kind: reason } })
  })

const notProved = {
  other_person: 'Somebody else has signed in there. You are still signed in here as before.',
  not_asked:
    'You were not asked to sign in again there, so it does not count. Sign out there and try again, or set up an authenticator app here.',
  not_told:
    'You may have been asked to sign in again there, but your identity provider does not say when, so it does not count. Set up an authenticator app here, or ask the operator of this server.',
  clock_behind:
    'It cannot be seen that you were asked to sign in again there: the clock of your identity provider is more than a minute behind. Ask the operator of this server.',
  rejected: 'You were not signed in there. You are still signed in here as before.',
  not_completed: 'It could not be confirmed that it is you.',
} as const
