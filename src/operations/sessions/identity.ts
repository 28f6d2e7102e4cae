import type { User } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { recordId } from '../../domain/identifier.ts'
import { statedPersonName } from '../../domain/entered-name.ts'
import { localPartOf, mayEnter, normalizeEmail } from '../../domain/user.ts'
import type { Claims } from '../../runtime/identity-provider.ts'
import { type Actor, auditStamp } from '../audit/event.ts'
import { CountedRefusal, type OpenChange, prepareChange, settle } from '../decision.ts'
import type { Platform, Trace } from '../platform.ts'
import { newUser } from '../users/builder-users.ts'
import { admit, type Entry, prepareEntry } from './entry.ts'
import { mintSession } from './sign-in.ts'

/**
 * Records that nobody was signed in, because what came back from the identity provider is not valid for this browser.
 * @throws invalid_login
 */
export const refuseIdentity = async (platform: Platform, trace: Trace): Promise<never> =>
  await settle<never>(
    platform,
    () => auditStamp(platform, trace, platform.clock.now()),
    refusedSignIn(notForYou, anonymous),
  )

const anonymous: Actor = { kind: 'anonymous' }
const refusedSignIn = (message: string, actor: Actor): CountedRefusal =>
  new CountedRefusal(refuse('invalid_login', { message }), { actor, action: 'session.create', detail: { way: 'oidc' } })

/** What may be done for people who come for the first time. */
type IdentityRules = { readonly createsUsers: boolean; readonly linksByEmail: boolean }

/**
 * Signs in the person whom an identity provider has named, by issuer and subject. The browser left for it at `begunAt`. A first sign-in joins the account of the same
 * verified address or creates one, if the settings allow it. An operator's account is never joined by its address, and no claim
 * gives operator rights.
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
  const open = prepareChange(platform, trace, { kind: 'anonymous' }, now)
  const outcome = await platform.database.transaction(async (q) => {
    const change = open(q)
    const known = await q.identities.find(claims.issuer, claims.subject)
    const user = known === null ? await firstSignIn(change, claims, rules, id) : await q.users.byId(known.userId)
    if (user === null) return refusedSignIn(unknownPerson, anonymous)
    if (!mayEnter(user, begunAt)) {
      const message = user.status === 'active' && user.suspendedAt === null ? notForYou : disabledPerson
      return refusedSignIn(message, { kind: 'user', id: user.id })
    }
    return await admit(change, entry, user)
  })
  return await settle<Entry>(platform, () => auditStamp(platform, trace, now), outcome)
}

const notForYou = 'It may have taken too long, or it was begun in another browser. Nothing was changed.'
const unknownPerson = 'There is no account here for you yet: ask the operator of this server.'
const disabledPerson = 'Your account is disabled: ask the operator of this server.'

/** The account of somebody who comes for the first time; null if there is none and none may be made. */
const firstSignIn = async (
  { q, now, record }: OpenChange,
  claims: Claims,
  { createsUsers, linksByEmail }: IdentityRules,
  id: string,
): Promise<User | null> => {
  const email = claims.email === null ? null : normalizeEmail(claims.email)
  if (email === null || !claims.isEmailVerified) return null
  const holder = await q.users.byEmail(email)
  const { issuer, subject } = claims
  if (holder !== null) {
    if (!linksByEmail || holder.isOperator || holder.erasedAt !== null) return null
    if (holder.status !== 'active') return holder
    // The provider has given the address to somebody else.
    if ((await q.identities.ofUser(holder.id)).some((known) => known.issuer === issuer)) return null
    await q.identities.insert({ issuer, subject, userId: holder.id, createdAt: now })
    await record({ actor: { kind: 'user', id: holder.id }, action: 'user.linked', target: holder.id })
    return holder
  }
  if (!createsUsers) return null
  const name = statedPersonName(claims.name ?? '', localPartOf(email))
  const user = newUser({ id, externalId: null, email, name, pictureUrl: null, status: 'active' }, now)
  await q.users.insert(user)
  await q.identities.insert({ issuer, subject, userId: id, createdAt: now })
  const actor = { kind: 'user', id } as const
  await record({ actor, action: 'user.created', target: id, detail: { operator: false } })
  await record({ actor, action: 'user.linked', target: id }) // of the same time as the row: a restore finds it by that
  return user
}
