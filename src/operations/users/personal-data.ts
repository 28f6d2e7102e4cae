import type { Queries, User } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { normalizeEmail } from '../../domain/user.ts'
import { checkingFirst } from '../acting-as.ts'
import { badInput, decide, type OpenChange, type Operation } from '../decide.ts'
import { endIssued, endSignIns } from '../end-access.ts'
import { removeResources } from '../resources/resources.ts'
import { ordinaryUser, builderUser } from './users.ts'
import { environmentOfClientId } from '../../domain/identifier.ts'
import { storedJson } from '../stored-json.ts'
import type { Platform } from '../platform.ts'
import { personOf, type Whom } from './find-user.ts'

/** How much was removed with the user. */
export type ErasedUser = { readonly id: string; readonly resources: number; readonly installs: number }

type Erased = { readonly externalId: string } | { readonly email: string }

/** How often websites and stores are removed, where other calls bring new ones. */
const mostRemovals = 4

/**
 * Erases a person: ends everything that was issued for them, ends their installs, removes their websites and stores, and
 * removes name, address, picture and the names of their browsers. What stays is an ID without a person, with times. If it was
 * interrupted, repeat it to remove the rest.
 * @throws record_not_found or invalid_request for an unknown user; owns_apps; operator_protected for an operator, whose rights
 *   must be withdrawn first; unavailable if other calls bring websites or stores again and again
 */
export const eraseUser: Operation<Erased, ErasedUser> = async (platform, trace, actor, whom) => {
  const { queries } = platform.database
  const found = 'externalId' in whom ? await ordinaryUser(queries, whom.externalId) : await userOf(queries, whom.email)
  if (found instanceof PlatformError) throw found
  const { id } = found
  const blocked = await whyNot(queries, id)
  if (blocked !== null) throw blocked
  const checked = checkingFirst(platform, () => ({ each: async (q) => await whyNot(q, id) }))
  // Grants end in parts, so that other writes need not wait. The last transaction ends what was issued meanwhile.
  await endIssued(checked, trace, actor, { kind: 'user', userId: id })
  let removed: Removed = { resources: 0, installs: 0 }
  for (let removals = 1; removals <= mostRemovals; removals += 1) {
    const remove = async (change: OpenChange) => await removePlaces(change, id, removed)
    removed = await decide(checked, trace, { actor, endsAccess: true }, remove)
    const erase = async (change: OpenChange) => await erasePerson(change, id, removed)
    const erased = await decide(checked, trace, { actor, endsAccess: true }, erase).catch(unlessPlacesCame)
    if (erased !== null) return erased
  }
  throw refuse('unavailable', { retryAfterSeconds: 1 })
}

type Removed = Omit<ErasedUser, 'id'>

/**
 * Removes the websites and stores, before the transaction that removes the address: that one has to wait for every import which brings
 * the person something, and such an import may wait for what is removed here.
 */
const removePlaces = async (change: OpenChange, userId: string, before: Removed): Promise<Removed> => {
  const places = await change.q.resources.ofOwner(userId)
  const installs = await removeResources(change, places)
  return { resources: before.resources + places.length, installs: before.installs + installs }
}

/** Thrown in the transaction, to undo it: the person has got a website or store that has to be removed first. */
class PlacesCame extends Error {}

const unlessPlacesCame = (error: unknown): null => {
  if (error instanceof PlacesCame) return null
  throw error
}

const erasePerson = async (change: OpenChange, id: string, removed: Removed): Promise<ErasedUser | PlatformError> => {
  const { q, now, record, tell } = change
  await endSignIns(change, id)
  if (!(await q.personal.erase(id, now))) return refuse('record_not_found')
  if ((await q.resources.ofOwner(id)).length > 0) throw new PlacesCame()
  await q.grants.revokeOfUser(id, null, now, { after: '', limit: 10_000 })
  await record({ action: 'user.erased', target: id, detail: removed })
  for (const place of await q.personal.appsOf(id)) await tell(place, { kind: 'user.erased', data: { userId: id } })
  return { id, ...removed }
}

const userOf = async (q: Queries, address: string): Promise<User | PlatformError> => {
  const email = normalizeEmail(address)
  const user = email === null ? null : await q.users.byEmail(email)
  return user ?? badInput('email', 'There is no user with this address.')
}

/** Asked again in every transaction: the user may have become an operator or got an app, and another call may have erased them. */
const whyNot = async (q: Queries, userId: string): Promise<PlatformError | null> => {
  const user = await q.users.byId(userId)
  if (user?.erasedAt !== null) return refuse('record_not_found')
  if (user.isOperator) return refuse('operator_protected', { message: operatorFirst })
  return (await q.apps.listOwnedBy(userId)).length === 0 ? null : refuse('owns_apps')
}

const operatorFirst = 'An operator cannot be erased: withdraw the operator rights first.'

/** Everything that is stored about a person, for the person. */
export type PersonalData = Awaited<ReturnType<typeof exportUser>>

/** The data as JSON, with times as RFC 3339 writes them. */
export const personalDataText = (data: PersonalData, indent = 0): string => JSON.stringify(data, readableTimes, indent)

const readableTimes = (key: string, value: unknown): unknown =>
  key.endsWith('At') && typeof value === 'number' ? new Date(value).toISOString() : value

/** Events that one read takes, and the pause after it, so that a long audit log does not stop the server. */
const eventsAtOnce = 2_000

/** @throws invalid_request for an unknown address */
export const exportUser = async (platform: Platform, whom: Whom) => {
  const { queries: q } = platform.database
  const user = await personOf(q, whom)
  if (user instanceof PlatformError) throw user
  const { grants, ...data } = await q.personal.data(user)
  return {
    user: builderUser(user),
    ...data,
    grants: grants.map(({ clientId, ...grant }) =>
      Object.assign(grant, { environment: environmentOfClientId(clientId) }),
    ),
    audit: await eventsAbout(platform, user.id),
  }
}

/** Events that the person caused or that are about them, oldest first. */
const eventsAbout = async ({ database: { queries: q } }: Platform, userId: string) => {
  const found: object[] = []
  let after = ''
  for (;;) {
    const { events, searchedTo } = await q.auditReading.aboutUser(userId, after, eventsAtOnce)
    for (const { id, at, action, target, outcome, reason, address, detail } of events) {
      const facts = detail === null ? null : storedJson<object>(detail)
      found.push({ id, at: new Date(at).toISOString(), action, target, outcome, reason, address, detail: facts })
    }
    if (searchedTo === null) return found
    after = searchedTo
    await Bun.sleep(1) // for other requests
  }
}
