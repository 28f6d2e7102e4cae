// Passkeys (WebAuthn level 2): registered by a signed-in person, and used as a second factor, to sign in without a password, and to
// prove again who is there. The library checks what the authenticator has signed; what is accepted once is decided here.

import type { Passkey } from '../../../db/database.ts'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { recordId } from '../../domain/identifier.ts'
import { typedName } from '../../domain/entered-name.ts'
import { refusalIfEnded } from '../acting-as.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { badInput, decide, type OpenChange } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { mintRecoveryCodes, storeFirstCodes } from './change-factors.ts'

/** So many passkeys a person can have. */
const mostPasskeys = 20

/** COSE algorithms, the preferred ones first: EdDSA, ES256, RS256. */
const algorithms = [-8, -7, -257] as const

/** How long a browser may ask the person for, in milliseconds. */
const timeout = 300_000

/** Whether browsers allow passkeys here: only with TLS or on localhost, and only for a name. */
export const allowsPasskeys = ({ publicUrl }: Pick<Platform, 'publicUrl'>): boolean => {
  const { protocol, hostname } = new URL(publicUrl)
  return hostname === 'localhost' || (protocol === 'https:' && !/^[\d.]+$|^\[/.test(hostname))
}

const placeOf = ({ publicUrl }: Platform) => {
  const { origin, hostname } = new URL(publicUrl)
  return { expectedOrigin: origin, expectedRPID: hostname }
}

type Credentials = readonly { readonly credentialId: string }[]
const named = (passkeys: Credentials) => passkeys.map(({ credentialId }) => ({ type: 'public-key', id: credentialId }))

/** What a browser needs to register a passkey (`PublicKeyCredentialCreationOptionsJSON`). The challenge is base64url. */
export const registrationOptions = async (
  platform: Platform,
  user: Pick<SessionCaller['user'], 'id' | 'name' | 'email'>,
  challenge: string,
) => ({
  challenge,
  rp: { id: placeOf(platform).expectedRPID, name: platform.platformName },
  user: { id: Buffer.from(user.id).toString('base64url'), name: user.email, displayName: user.name },
  pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
  authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  excludeCredentials: named(await platform.database.queries.passkeys.ofUser(user.id)),
  attestation: 'none',
  timeout,
})

/** Whose passkey is asked for; null: anybody's. `verifies` if the authenticator must make sure who uses it. */
export type Asked = { readonly userId: string | null; readonly verifies: boolean }

/** A passkey alone signs in, so it must be verified who uses it; beside another proof that is not needed. */
export const asked = {
  alone: { userId: null, verifies: true },
  second: (userId: string) => ({ userId, verifies: false }),
  again: (userId: string) => ({ userId, verifies: true }),
} as const

/** What a browser needs to use a passkey (`PublicKeyCredentialRequestOptionsJSON`). */
export const requestOptions = async (platform: Platform, { userId, verifies }: Asked, challenge: string) => ({
  challenge,
  rpId: placeOf(platform).expectedRPID,
  allowCredentials: userId === null ? [] : named(await platform.database.queries.passkeys.ofUser(userId)),
  userVerification: verifies ? 'required' : 'preferred',
  timeout,
})

/** Reads a challenge of ours: epoch milliseconds when it was made; null for one of another place, and for an old one. */
export type ReadChallenge = (challenge: string) => number | null

export type NewPasskey = {
  readonly response: RegistrationResponseJSON
  readonly name: string
  readonly readChallenge: ReadChallenge
}

/**
 * Prepares to store a passkey, outside of a transaction.
 * @throws invalid_request for a wrong or old answer of the browser, and for a name that is none
 */
export const preparePasskey = async (
  platform: Platform,
  userId: string,
  { response, name: typed, readChallenge }: NewPasskey,
  now: number,
) => {
  const { name, fault } = typedName(typed)
  if (fault !== null) throw badInput('name', fault)
  const checked = await checkRegistration(platform, response, readChallenge)
  if (checked === null) throw badInput('passkey', notChecked)
  const id = recordId('psk_', platform.random.uuid(now))
  const row = { ...checked, id, userId, name, createdAt: now, lastUsedAt: null, endedAt: null }
  return { row, recovery: mintRecoveryCodes(platform, userId, now) }
}

type PreparedPasskey = Awaited<ReturnType<typeof preparePasskey>>

/** Stores the passkey, and recovery codes if none work. Returns the new codes. */
export const storePasskey = async (
  { q, record }: OpenChange,
  { row, recovery }: PreparedPasskey,
): Promise<readonly string[] | PlatformError> => {
  const { id, userId, credentialId, challengeAt } = row
  if ((await q.passkeys.countOfUser(userId)) >= mostPasskeys)
    return refuse('version_not_eligible', { message: tooMany })
  if ((await q.passkeys.byCredentialId(credentialId)) !== null) {
    return refuse('version_not_eligible', { message: isKnown })
  }
  const isReplayed = (await q.personal.rows('passkeys', userId)).some(
    (one) => one.credentialId === credentialId && one.challengeAt >= challengeAt,
  )
  if (isReplayed) return badInput('passkey', notChecked)
  await q.passkeys.insert(row)
  const actor = { kind: 'user', id: userId } as const
  await record({ actor, action: 'factor.added', target: userId, detail: { kind: 'passkey', id } })
  return await storeFirstCodes(q, userId, recovery)
}

/**
 * Adds a passkey to the caller's account. Returns recovery codes to show once; none if earlier ones still work.
 * @throws invalid_request for a wrong or old answer of the browser, and for a name that is none; version_not_eligible; login_required
 */
export const addPasskey = async (platform: Platform, trace: Trace, caller: SessionCaller, passkey: NewPasskey) => {
  const now = platform.clock.now()
  const prepared = await preparePasskey(platform, caller.user.id, passkey, now)
  return await decide(platform, trace, { actor: actorOf(caller), now }, async (change) => {
    const ended = await refusalIfEnded(platform, change, caller)
    if (ended !== null) return ended
    await change.q.users.byId(caller.user.id) // locked, so that a reset waits
    return await storePasskey(change, prepared)
  })
}

const notChecked = 'The passkey could not be checked, or this page was open for too long. Try again.'
const tooMany = `You have ${mostPasskeys} passkeys, and cannot have more. Remove one first.`
const isKnown = 'This passkey is registered already.'

const checkRegistration = async (platform: Platform, response: RegistrationResponseJSON, read: ReadChallenge) => {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server') // when it is needed, because it is large
  let challengeAt: number | null = null
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      ...placeOf(platform),
      response,
      expectedChallenge: (challenge) => (challengeAt = read(challenge)) !== null,
      requireUserVerification: false,
      supportedAlgorithmIDs: [...algorithms],
    })
    if (!verified || challengeAt === null) return null
    const { id, publicKey, counter } = registrationInfo.credential
    return { credentialId: id, publicKey, counter, challengeAt }
  } catch {
    return null
  }
}

/** What a browser has answered with a passkey. */
export type PasskeyAnswer = { readonly response: AuthenticationResponseJSON; readonly readChallenge: ReadChallenge }

/** An answer whose signature is right. It counts once it is used up. */
type CheckedPasskey = { readonly passkey: Passkey; readonly used: Pick<Passkey, 'counter' | 'challengeAt'> }

/**
 * Checks the signature of an answer, outside of a transaction. Null for a passkey that does not work any more, for one of another
 * user, for another place, for an old challenge, and for a wrong signature.
 */
export const checkPasskey = async (
  platform: Platform,
  { userId, verifies }: Asked,
  { response, readChallenge }: PasskeyAnswer,
): Promise<CheckedPasskey | null> => {
  const passkey = await platform.database.queries.passkeys.byCredentialId(response.id)
  if (passkey === null || (userId !== null && passkey.userId !== userId)) return null
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { credentialId: id, publicKey } = passkey
  let challengeAt: number | null = null
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...placeOf(platform),
      response,
      expectedChallenge: (challenge) => (challengeAt = readChallenge(challenge)) !== null,
      credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 }, // the counter is compared when it is stored
      requireUserVerification: verifies,
    })
    const counter = authenticationInfo.newCounter
    return verified && challengeAt !== null ? { passkey, used: { counter, challengeAt } } : null
  } catch {
    return null
  }
}

/** Why an answer was not taken, for the audit. An authenticator that has not counted upwards may have been copied. */
type Untaken = 'passkey_unknown' | 'passkey_counter'

/**
 * Uses the answer up. Null if it was taken: of parallel calls with one answer, one is. None is if the passkey has been removed, or if
 * an authenticator that counts has not counted upwards, as a copy of it would.
 */
export const usePasskey = async (
  { q, now }: OpenChange,
  { passkey: { id, credentialId }, used }: CheckedPasskey,
): Promise<Untaken | null> => {
  if (await q.passkeys.use(id, used, now)) return null
  const found = await q.passkeys.byCredentialId(credentialId)
  return found?.id === id && found.challengeAt < used.challengeAt ? 'passkey_counter' : 'passkey_unknown'
}
