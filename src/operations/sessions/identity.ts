import type { Identity, User } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { recordId } from '../../domain/identifier.ts'
import { statedPersonName } from '../../domain/entered-name.ts'
import { auditReasonOf, sentenceOf, type SignInCause, type SignInFault } from '../../domain/sign-in-cause.ts'
import { localPartOf, mayEnter, normalizeEmail } from '../../domain/user.ts'
import type { Claims } from '../../runtime/identity-provider.ts'
import { type Actor, anonymous } from '../audit/event.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { CountedRefusal, decide, type OpenChange, settle } from '../decide.ts'
import type { Platform, Trace } from '../platform.ts'
import { newUser, changeUser } from '../users/users.ts'
import { admit, type Entry, prepareEntry } from './entry.ts'
import { mintSession } from './sign-in.ts'

/**
 * Records that what came back from the identity provider signs nobody in, or proves nothing about the caller who went there to prove
 * that it is still them. The refusal has the sentence of the fault.
 * @throws invalid_login
 */
export const refuseIdentity = async (
  platform: Platform,
  trace: Trace,
  fault: SignInFault,
  caller: SessionCaller | null,
): Promise<never> => {
  const reason = auditReasonOf(fault)
  const facts: CountedRefusal['facts'] =
    caller === null
      ? { actor: anonymous, action: 'session.create', detail: { way: 'oidc', reason } }
      : { actor: actorOf(caller), action: 'session.prove', target: caller.user.id, detail: { with: 'oidc', reason } }
  return await settle(platform, trace, new CountedRefusal(refusalFor(platform, fault), facts))
}

const refusalFor = ({ signIn }: Platform, fault: SignInFault) =>
  refuse('invalid_login', { message: sentenceOf(fault, signIn), details: { ...fault } })

/** What may be done for people who come for the first time. */
type IdentityRules = { readonly createsUsers: boolean; readonly linksByEmail: boolean }

/**
 * Signs in the person whom an identity provider has named, by issuer and subject. The browser left for it at `begunAt`. A first sign-in
 * joins the account of the same verified address or creates one, if the settings allow it; later ones follow what the provider says.
 * An operator's account is never joined by its address, and no claim gives operator rights.
 * @throws invalid_login
 */
export const signInWithIdentity = async (
  platform: Platform,
  trace: Trace,
  claims: Claims,
  rules: IdentityRules,
  { agent, begunAt }: { readonly agent: string | null; readonly begunAt: number },
): Promise<Entry> => {
  const now = platform.clock.now()
  const minted = mintSession(platform, trace, now)
  const askedAt = claims.askedAt === null ? null : Math.min(claims.askedAt, now)
  const entry = prepareEntry(platform, minted, { agent, device: null }, now, 'oidc', claims.acr, askedAt)
  const id = recordId('usr_', platform.random.uuid(now))
  const refused = (kind: SignInCause, actor: Actor): CountedRefusal => {
    const fault = { kind, code: null }
    const detail = { way: 'oidc', reason: auditReasonOf(fault) }
    return new CountedRefusal(refusalFor(platform, fault), { actor, action: 'session.create', detail })
  }
  return await decide(platform, trace, { actor: anonymous, now }, async (change) => {
    const { q } = change
    const known = await q.identities.find(claims.issuer, claims.subject)
    const user = known === null ? await firstSignIn(change, claims, rules, id) : await q.users.byId(known.userId)
    if (typeof user === 'string') return refused(user, anonymous)
    if (user === null) return refused('no_account', anonymous)
    if (!mayEnter(user, begunAt)) {
      const isOpen = user.status === 'active' && user.suspendedAt === null
      return refused(isOpen ? 'not_begun_here' : 'disabled', { kind: 'user', id: user.id })
    }
    return await admit(change, entry, known === null ? user : await follow(change, known, user, claims))
  })
}

/**
 * The account gets the address and the name that the provider says its person has now. The provider must say that the address is
 * theirs. If somebody else has it here, the account stays as it is, and operators read who has it. An operator's account follows
 * nobody, nor does one that the builder keeps.
 */
const follow = async (change: OpenChange, known: Identity, user: User, claims: Claims): Promise<User> => {
  const { q } = change
  const isKeptElsewhere = user.isOperator || user.externalId !== null
  const email = claims.isEmailVerified && claims.email !== null ? normalizeEmail(claims.email) : null
  const isFollowed = email !== null && !isKeptElsewhere
  const found = isFollowed && email !== user.email ? await q.users.byEmail(email) : null
  const holderId = found?.id ?? null
  if (known.addressHolderId !== holderId) await q.identities.noteHolder(known.issuer, known.subject, holderId)
  if (!isFollowed || found !== null) return user
  const name = statedPersonName(claims.name ?? '', user.name)
  return (await changeUser(change, user, { email, name }, { by: { kind: 'user', id: user.id } })).user
}

/** The account of somebody who comes for the first time, or why they have none and none may be made. */
const firstSignIn = async (
  { q, now, record }: OpenChange,
  claims: Claims,
  { createsUsers, linksByEmail }: IdentityRules,
  id: string,
): Promise<User | SignInCause> => {
  if (await q.identities.hasEnded(claims.issuer, claims.subject)) return 'unlinked' // until an operator links them again
  const email = claims.email === null ? null : normalizeEmail(claims.email)
  if (email === null || !claims.isEmailVerified) {
    if (claims.missed?.kind === 'provider_unreachable') return claims.missed.kind // it may say more in a moment
    return email === null ? 'email_missing' : 'email_unverified'
  }
  const holder = await q.users.byEmail(email)
  const { issuer, subject } = claims
  if (holder !== null) {
    if (!linksByEmail || holder.isOperator || holder.erasedAt !== null) return 'no_account'
    if (holder.status !== 'active') return holder
    // The provider has given the address to somebody else.
    const others = await q.identities.ofUser(holder.id)
    if (others.some((known) => known.issuer === issuer)) return 'account_of_other_subject'
    await q.identities.link({ issuer, subject, userId: holder.id, createdAt: now })
    const actor = { kind: 'user', id: holder.id } as const
    await record({ actor, action: 'user.linked', target: holder.id, detail: { way: 'oidc' } })
    return holder
  }
  if (!createsUsers) return 'creation_off'
  const name = statedPersonName(claims.name ?? '', localPartOf(email))
  const user = newUser({ id, externalId: null, email, name, pictureUrl: null, status: 'active' }, now)
  await q.users.insert(user)
  await q.identities.link({ issuer, subject, userId: id, createdAt: now })
  const actor = { kind: 'user', id } as const
  await record({ actor, action: 'user.created', target: id, detail: { operator: false } })
  // Of the same time as the row: a restore finds it by that. The account is new, so there is nobody to warn.
  await record({ actor, action: 'user.linked', target: id, mail: null })
  return user
}
