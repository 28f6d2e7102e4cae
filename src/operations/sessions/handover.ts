// Signing in through the builder: the browser takes a request there, and the builder's backend says who it is.

import type { Queries, User } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { type RowKey, uuidTimeOfKey } from '../../domain/identifier.ts'
import { hashSecret, sameHash, secretDigits } from '../../domain/secret.ts'
import { serviceKeyStatus } from '../../domain/service-key.ts'
import { readSignInRequest } from '../../domain/sign-in-rules.ts'
import { mayEnter } from '../../domain/user.ts'
import { type Actor, anonymous } from '../audit/event.ts'
import { badInput, CountedRefusal, decide } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { ordinaryUser } from '../users/users.ts'
import { admit, type Entry, prepareEntry } from './entry.ts'
import { mintSession, nobody } from './sign-in.ts'

/** The builder's backend answers with its service key. */
type Answer = {
  /** `apsr_…`, as the browser brought it. */
  readonly request: string
  readonly serverKey: Uint8Array
} & ({ readonly externalId: string; readonly wasAsked: boolean } | { readonly reason: string })

/** Longest reason of a refusal, in UTF-16 code units. */
const maximumReason = 200

/**
 * Stores who the browser belongs to, or that the builder refuses. Until the browser comes back, the answer can be given again; the
 * last one counts. Returns where the builder sends the browser.
 * @throws record_not_found for a request that is unknown or has expired, and an unknown user; operator_protected;
 *   version_not_eligible for a disabled user, and a request that has been completed
 */
export const answerSignIn = async (
  platform: Platform,
  trace: Trace,
  actor: Extract<Actor, { kind: 'service' }>,
  answer: Answer,
): Promise<{ readonly redirectTo: string }> => {
  const now = platform.clock.now()
  const key = readSignInRequest(answer.serverKey, answer.request, now)
  if (key === null) throw refuse('record_not_found', { param: 'id' })
  if ('reason' in answer && (answer.reason === '' || answer.reason.length > maximumReason)) {
    throw badInput('reason', `It must be text of 1 to ${maximumReason} characters.`)
  }
  const verifier = platform.random.digits(secretDigits)
  const verifierHash = verifierHashes(verifier)['wasAsked' in answer && answer.wasAsked ? 'asked' : 'known']
  const fixed = { key, verifierHash, serviceKeyId: actor.id, decidedAt: now, completedAt: null }
  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const user = 'externalId' in answer ? await activeUser(q, answer.externalId) : null
    if (user instanceof PlatformError) return user
    const reason = 'reason' in answer ? answer.reason : null
    if (!(await q.signInRequests.answer({ ...fixed, userId: user?.id ?? null, reason }))) {
      return refuse('version_not_eligible', { message: 'This request to sign in has been completed.' })
    }
    await record({ action: user === null ? 'sign_in.rejected' : 'sign_in.accepted', target: user?.id ?? null })
    const query = new URLSearchParams({ request: answer.request, verifier })
    return { redirectTo: `${platform.publicUrl}/sign-in/complete?${query.toString()}` }
  })
}

/** The hash of a verifier says whether the builder has asked the person again, or knew them from before. */
const verifierHashes = (verifier: string) => ({ known: hashSecret(verifier), asked: hashSecret(`${verifier} asked`) })

const activeUser = async (q: Queries, externalId: string): Promise<User | PlatformError> => {
  const user = await ordinaryUser(q, externalId)
  if (user instanceof PlatformError || user.status === 'active') return user
  return refuse('version_not_eligible', { param: 'externalId', message: 'The user is disabled.' })
}

/** What came back with the browser. */
export type Returned = {
  /** That of a genuine request that this browser was sent away with, by its cookie, and that has not expired; else null. */
  readonly key: RowKey | null
  readonly verifier: string
}

/**
 * The answer that was meant for this browser, used up. Null for any other, for one that was used, and for one of a service key that
 * has ended: what a stolen key has answered must not outlive its revocation.
 */
export const takeAnswer = async (q: Queries, { key, verifier }: Returned, now: number) => {
  const row = key === null ? null : await q.signInRequests.find(key)
  const { known, asked } = verifierHashes(verifier)
  const wasAsked = row !== null && sameHash(row.verifierHash, asked)
  if (row === null || !(wasAsked || sameHash(row.verifierHash, known))) return null
  if (!(await q.signInRequests.complete(row, now))) return null
  const serviceKey = await q.serviceKeys.find(row.serviceKeyId)
  return serviceKey === null || serviceKeyStatus(serviceKey, now) !== 'live' ? null : { ...row, wasAsked }
}

/** How the sign-in goes on, or the reason that the builder gave. */
type Completed = Entry | { readonly kind: 'rejected'; readonly reason: string }

/**
 * Signs the browser in that asked, with the answer that was meant for it: it needs the cookie of the request, the verifier, and
 * the service key of the answer to be still live, and works once.
 * @throws invalid_login
 */
export const completeSignIn = async (
  platform: Platform,
  trace: Trace,
  came: Returned & { readonly agent: string | null },
): Promise<Completed> => {
  const now = platform.clock.now()
  const browser = { agent: came.agent, device: null }
  const entry = prepareEntry(platform, mintSession(platform, trace, now), browser, now, 'handover')
  return await decide(platform, trace, { actor: anonymous, now, kind: 'guarded' }, async (change) => {
    const { q } = change
    const request = came.key === null ? null : await q.signInRequests.find(came.key)
    const user = await q.users.byId(request?.userId ?? nobody) // locked before the answer is used up
    const row = await takeAnswer(q, came, now)
    if (row === null) return refusedSignIn(anonymous, came.key === null ? 'not_begun_here' : 'answer_invalid')
    if (row.userId === null) return { kind: 'rejected', reason: row.reason ?? '' } as const
    const begunAt = uuidTimeOfKey(row.key)
    if (user?.id !== row.userId || user.isOperator || !mayEnter(user, begunAt)) {
      return refusedSignIn({ kind: 'user', id: row.userId }, 'account_closed')
    }
    const askedAt = row.wasAsked ? row.decidedAt : null // the browser may come back minutes later
    return await admit(change, { ...entry, askedAt, detail: { ...entry.detail, serviceKey: row.serviceKeyId } }, user)
  })
}

/** Why nobody is signed in, as the audit log and the log call it, and what the person reads. */
export const notCompleted = {
  not_begun_here:
    'It may have taken too long, or it was begun in another browser or in too many tabs at once. Nothing was changed.',
  answer_invalid: 'The answer that you came back with was used before, or is no longer valid. Begin again.',
  account_closed:
    'Your account here is disabled, or your access ended while you signed in. Try again, or ask the operator of this server.',
} as const

const refusedSignIn = (actor: Actor, reason: keyof typeof notCompleted): CountedRefusal =>
  new CountedRefusal(refuse('invalid_login', { message: notCompleted[reason], details: { kind: reason } }), {
    actor,
    action: 'session.create',
    detail: { way: 'handover', reason },
  })
