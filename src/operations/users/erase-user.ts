import type { User } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { normalizeEmail } from '../../domain/user.ts'
import { badInput, decideToEnd, type OpenChange, type Operation } from '../decision.ts'
import { endIssued, endSignIns } from '../end-access.ts'
import { removeResources } from '../resources/builder-resources.ts'
import { ordinaryUser, sparingOperators } from './builder-users.ts'

/** How much was removed with the user. */
export type ErasedUser = { readonly id: string; readonly resources: number; readonly installs: number }

type Whom = { readonly externalId: string } | { readonly email: string }

/**
 * Erases a person: ends everything that was issued for them, ends their installs, removes their websites and stores, and
 * removes name, address, picture and the names of their browsers. What stays is an ID without a person, with times.
 * @throws record_not_found or invalid_request for an unknown user; owns_apps; operator_protected for an operator, whose rights
 *   must be withdrawn first
 */
export const eraseUser: Operation<Whom, ErasedUser> = async (platform, trace, actor, whom) => {
  const { queries } = platform.database
  const found = 'externalId' in whom ? await ordinaryUser(queries, whom.externalId) : await userOf(queries, whom.email)
  if (found instanceof PlatformError) throw found
  const blocked = await whyNot({ q: queries }, found.id)
  if (blocked !== null) throw blocked
  // Grants end in parts, so that other writes need not wait. The last transaction ends what was issued meanwhile.
  await endIssued(sparingOperators(platform, found.id), trace, actor, { kind: 'user', userId: found.id })
  return await decideToEnd(platform, trace, actor, async (change) => {
    const { q, now, record } = change
    const refusal = await whyNot(change, found.id)
    if (refusal !== null) return refusal
    await endSignIns(change, found.id)
    await q.users.erase(found.id, now)
    await q.mails.forget(found.id, found.email)
    await q.sessions.forgetOrigins(found.id)
    await q.grants.revokeOfUser(found.id, null, now, { after: '', limit: 10_000 })
    await q.identities.forget(found.id)
    await q.totpKeys.forget(found.id)
    await q.passkeys.forget(found.id)
    await q.recoveryCodes.forget(found.id)
    await q.passwordLinks.forget(found.id)
    await q.appInvitations.forget(found.id, found.email)
    await q.appMembers.forget(found.id)
    await q.auditReading.forgetPerson(found.id)
    const places = await q.resources.ofOwner(found.id)
    const counts = { resources: places.length, installs: await removeResources(change, places) }
    await record({ action: 'user.erased', target: found.id, detail: counts })
    return { id: found.id, ...counts }
  })
}

const userOf = async (q: OpenChange['q'], address: string): Promise<User | PlatformError> => {
  const email = normalizeEmail(address)
  const user = email === null ? null : await q.users.byEmail(email)
  return user ?? badInput('email', 'There is no user with this address.')
}

/** Read again in the transaction: the user may have become an operator or got an app. */
const whyNot = async ({ q }: Pick<OpenChange, 'q'>, userId: string): Promise<PlatformError | null> => {
  const user = await q.users.byId(userId)
  if (user === null) return refuse('record_not_found')
  if (user.isOperator) return refuse('operator_protected', { message: operatorFirst })
  return (await q.apps.listOwnedBy(userId)).length === 0 ? null : refuse('owns_apps')
}

const operatorFirst = 'An operator cannot be erased: withdraw the operator rights first.'
