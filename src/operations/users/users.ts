import type { User, Queries } from '../../../db/database.ts'
import { emailFault, normalizeEmail, localPartOf, type UserStatus } from '../../domain/user.ts'
import { isForeignId, keyOfUuidTime, recordId } from '../../domain/identifier.ts'
import { typedName, statedPersonName } from '../../domain/entered-name.ts'
import { newPasswordFault, noPassword } from '../../domain/password.ts'
import { badInput, decide, type Operation, refusalOfFaults, type OpenChange, refuseFault } from '../decide.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import { type Rule, checkingFirst } from '../acting-as.ts'
import type { Actor } from '../audit/event.ts'
import { countOf, endSignIns, endIssued, endSessionsOf, type EndedAccess } from '../end-access.ts'
import { personOf, type Whom } from './find-user.ts'
import { isPlainAddress } from '../../domain/registered-url.ts'
import { pick } from '../../domain/pick.ts'
import { pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'

const taken = 'A user with this email address already exists.'

type NewUser = {
  readonly email: string
  readonly name: string
  readonly password: string
  readonly isOperator: boolean
}

/**
 * Creates a user. Only a bcrypt hash of the password is stored.
 * @throws invalid_request for a malformed field or an address that is taken
 */
export const createUser: Operation<NewUser, User> = async (platform, trace, actor, input) => {
  const email = normalizeEmail(input.email)
  const { name, fault } = typedName(input.name)
  const faults = {
    email: email === null ? emailFault(input.email) : null,
    name: fault,
    password: newPasswordFault(input.password),
  }
  const refusal = refusalOfFaults(faults)
  if (email === null || refusal !== null) {
    // An address that is taken alone is refused in the transaction.
    const isTaken = email !== null && (await platform.database.queries.users.byEmail(email)) !== null
    throw (isTaken ? refusalOfFaults({ ...faults, email: taken }) : refusal) ?? badInput('email', taken)
  }
  const passwordHash = await platform.passwords.hash(input.password)
  const now = platform.clock.now()
  const id = recordId('usr_', platform.random.uuid(now))
  const facts = { id, externalId: null, email, name, pictureUrl: null, status: 'active' } as const
  const user: User = { ...newUser(facts, now), passwordHash, isOperator: input.isOperator }
  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    if ((await q.users.byEmail(email)) !== null) return badInput('email', taken)
    await q.users.insert(user)
    await record({ action: 'user.created', target: user.id, detail: { operator: input.isOperator } })
    return user
  })
}

// Changes of a user. `changeUser` is the only way to another address or status, whoever changes it: the desk and the command line, the
// builder, or the person. It has everything that follows from such a change.

/** What changes of a user; what is left out stays. */
type UserChanges = Partial<Pick<User, 'email' | 'name' | 'pictureUrl' | 'status'>>

/** What the audit says about a change. */
type AboutChange = {
  /** Who made it, if not the actor of the transaction. */
  readonly by?: Actor
  /** What becomes of the apps of a user who is disabled. */
  readonly apps?: Readonly<Record<string, unknown>>
}

/**
 * Changes a user in the transaction of a caller who may, and who has read the user in it. Nobody else may have the new address. With an
 * address, the links that were given to its person end, and the old one is told. Disabling ends everything that signs the user in and
 * the invitations that they made, and what was issued for them stops working until they are enabled. `ended` is what has ended, and `stopped` what has stopped.
 */
export const changeUser = async (
  change: OpenChange,
  before: User,
  to: UserChanges,
  { by, apps = { apps: 'keep' } }: AboutChange = {},
) => {
  const { q, now } = change
  const record: OpenChange['record'] = async (facts) => await change.record({ ...(by && { actor: by }), ...facts })
  const changes = { ...before, ...to }
  const fields = (['email', 'name', 'pictureUrl', 'status'] as const).filter((name) => changes[name] !== before[name])
  if (fields.length === 0) return { user: before, ...nothingEnded }
  const { email, name, pictureUrl, status } = changes
  await q.users.change(before.id, { email, name, pictureUrl, status }, now)
  const user = { ...changes, updatedAt: now }
  const target = user.id
  let outcome: UserEnded = nothingEnded
  if (fields.includes('status') && status === 'disabled') {
    outcome = await stopUser(change, before)
    await record({ action: 'user.disabled', target, detail: { ...apps, ...outcome.ended, ...outcome.stopped } })
  } else if (fields.includes('status')) await record({ action: 'user.enabled', target })
  if (fields.includes('email')) {
    await q.passwordLinks.endAll(target, now)
    await q.identities.freeAddressOf(target)
    await record({ action: 'user.email_changed', target, mail: { kind: 'email_changed', to: before.email } })
  }
  const others = fields.filter((field) => field === 'name' || field === 'pictureUrl')
  if (others.length > 0) await record({ action: 'user.changed', target, detail: { fields: others } })
  return { user, ...outcome }
}

const nothingEnded = {
  ended: { sessions: 0, embeddedSessions: 0 },
  stopped: { grants: 0, userTokens: 0 },
}
export type UserEnded = Readonly<typeof nothingEnded>

/** An embedded session ends with the session that it was opened in. Grants are not revoked: they work again with the user. */
const stopUser = async (change: OpenChange, { id }: User): Promise<UserEnded> => {
  const { q, now } = change
  const since = keyOfUuidTime(now - maximumLifetimes.embeddedSession * 1000)
  const embeddedSessions = await q.access.countEmbedded({ kind: 'user', userId: id }, since, now)
  const sessions = await endSignIns(change, id)
  await q.appInvitations.endAllBy(id, now)
  const { grants, userTokens } = countOf(await q.access.openGrants({ kind: 'user', userId: id }, '', 10_000), now)
  return { ended: { sessions, embeddedSessions }, stopped: { grants, userTokens } }
}

type NewUserName = Whom & { readonly name: string }

/**
 * Gives a user another name. The audit row does not contain it: the audit has no names of people.
 * @throws invalid_request for an unknown address or a name that cannot be shown
 */
export const renameUser: Operation<NewUserName, User> = async (platform, trace, actor, input) => {
  const { name, fault } = typedName(input.name)
  refuseFault('name', fault)
  return await decide(platform, trace, { actor }, async (change) => {
    const user = await personOf(change.q, input)
    return user instanceof PlatformError ? user : (await changeUser(change, user, { name })).user
  })
}

type NewUserEmail = Whom & { readonly to: string }

/**
 * Gives a user another address to sign in with. Sessions and grants stay, because they belong to the user.
 * @throws invalid_request for an unknown address, and a new one that is malformed or taken
 */
export const setUserEmail: Operation<NewUserEmail, User> = async (platform, trace, actor, input) => {
  const email = normalizeEmail(input.to)
  if (email === null) throw badInput('to', emailFault(input.to))
  return await decide(platform, trace, { actor }, async (change) => {
    const user = await personOf(change.q, input)
    if (user instanceof PlatformError) return user
    const isTaken = user.email !== email && (await change.q.users.byEmail(email)) !== null
    if (isTaken) return badInput('to', 'A user with the new email address already exists.')
    return (await changeUser(change, user, { email })).user
  })
}

type OperatorRights = { readonly userId: string; readonly isOperator: boolean }

/**
 * Grants or withdraws operator rights, from the next request on.
 * @throws invalid_request for an unknown user, and for the last operator
 */
export const setOperator: Operation<OperatorRights, User> = async (platform, trace, actor, input) => {
  const { userId, isOperator } = input
  return await decide(platform, trace, { actor, endsAccess: !isOperator }, async ({ q, now, record }) => {
    const user = await personOf(q, { userId })
    if (user instanceof PlatformError || user.isOperator === isOperator) return user
    const last = isOperator ? null : await refusalIfLastOperator(q, userId)
    if (last !== null) return last
    await q.users.change(userId, { isOperator }, now)
    await record({ action: isOperator ? 'user.operator_granted' : 'user.operator_withdrawn', target: userId })
    return { ...user, isOperator, updatedAt: now }
  })
}

/**
 * The rule for withdrawing operator rights on the desk: an operator cannot withdraw their own rights or those of the last
 * operator. It is checked in the transaction of the change.
 */
export const leavesAnOperator =
  (userId: string): Rule =>
  async (q, operatorId) =>
    operatorId === userId ? badInput('user', ownRights) : await refusalIfLastOperator(q, userId)

/** The refusal when no other active operator exists; null when one does. */
export const refusalIfLastOperator = async (q: Queries, userId: string): Promise<PlatformError | null> => {
  const remaining = (await q.users.activeOperators(2)).filter(({ id }) => id !== userId)
  return remaining.length > 0 ? null : badInput('user', lastOperator)
}

export const ownRights = 'You cannot remove your own operator rights: ask another operator.'
const lastOperator = 'This is the last operator who can sign in: make somebody else an operator first.'

// Users as the builder sends them. A service key never creates, changes or ends an operator.

/** A user as the builder sees them. */
type BuilderUser = ReturnType<typeof builderUser>

export const builderUser = (user: User) => ({
  ...pick(user, 'id', 'externalId', 'email', 'name', 'pictureUrl', 'status', 'isOperator'),
  hasPassword: user.passwordHash !== noPassword,
  createdAt: user.createdAt,
  updatedAt: user.updatedAt,
})

/** A user as the builder states them. */
export type StatedUser = {
  readonly externalId: string
  readonly email: string
  readonly name: string
  readonly pictureUrl: string | null
  /** Null leaves the status of a known user as it is; a new one is active. */
  readonly status: UserStatus | null
}

/** In the form of the store. */
export type CheckedUser = ReturnType<typeof checkedUser>

/** @throws invalid_request */
export const checkedUser = ({ externalId, email: address, name, pictureUrl, status }: StatedUser) => {
  refuseStrangeId('externalId', externalId)
  const email = normalizeEmail(address)
  if (email === null) throw badInput('email', emailFault(address))
  refuseFault('pictureUrl', pictureUrl === null ? null : pictureFault(pictureUrl))
  return { externalId, email, name: statedPersonName(name, localPartOf(email)), pictureUrl, status }
}

/**
 * Creates the user of this external ID, or replaces what is stored. Repeated, it changes nothing. A new user has no password.
 * Disabling ends the user's sessions and leaves their apps as they are.
 * @throws invalid_request, email_taken, operator_protected
 */
export const putBuilderUser: Operation<StatedUser, { readonly user: BuilderUser; readonly created: boolean }> = async (
  platform,
  trace,
  actor,
  stated,
) => {
  const user = checkedUser(stated)
  const now = platform.clock.now()
  const id = recordId('usr_', platform.random.uuid(now))
  const endsAccess = user.status === 'disabled'
  return await decide(platform, trace, { actor, now, endsAccess }, async (change) => {
    const stored = await storeUsers(change, [{ user, id }])
    return stored instanceof PlatformError ? stored : (stored[0] ?? refuse('record_not_found'))
  })
}

/** A user as stated; a new one gets this ID. */
type Storing = { readonly user: CheckedUser; readonly id: string }
type Stored = { readonly user: BuilderUser; readonly created: boolean }

/**
 * Stores users, judged by the state that they lead to: one may get the address that another one gives up here. Who gives it up has
 * their ID in its place meanwhile, because an address has one user at any time.
 */
export const storeUsers = async (
  change: OpenChange,
  storing: readonly Storing[],
): Promise<readonly Stored[] | PlatformError> => {
  const { users } = change.q
  const known: (Storing & { readonly before: User | null })[] = []
  for (const each of storing) known.push({ ...each, before: await users.byExternalId(each.user.externalId) })
  if (known.some(({ before }) => before?.isOperator === true)) return refuse('operator_protected')
  const givers = new Set(known.flatMap(({ user, before }) => (before?.email === user.email ? [] : (before?.id ?? []))))
  for (const { user, before } of known) {
    const holder = await users.byEmail(user.email)
    if (holder === null || holder.id === before?.id) continue
    if (!givers.has(holder.id)) return refuse('email_taken', { param: 'email' })
    await users.change(holder.id, { email: holder.id }, change.now)
  }
  const stored: Stored[] = []
  for (const { user, before, id } of known) stored.push(await storeUser(change, user, before, id))
  return stored
}

const storeUser = async (
  change: OpenChange,
  { externalId, status, ...facts }: CheckedUser,
  before: User | null,
  id: string,
): Promise<Stored> => {
  if (before === null) {
    const created = newUser({ id, externalId, ...facts, status: 'active' }, change.now)
    await change.q.users.insert(created)
    await change.record({ action: 'user.created', target: id, detail: { operator: false } })
    const { user } = await changeUser(change, created, { status: status ?? 'active' })
    return { user: builderUser(user), created: true }
  }
  const { user } = await changeUser(change, before, { ...facts, status: status ?? before.status })
  return { user: builderUser(user), created: false }
}

const externalIdRule = 'An external ID is 1 to 128 visible ASCII characters, and not one or two dots.'

/**
 * Refuses what no record of the builder can have as its ID. To be told that there is none, the builder would create it again.
 * @throws invalid_request
 */
export const refuseStrangeId = (param: string, externalId: string | null): void =>
  refuseFault(param, externalId === null || isForeignId('external ID', externalId) ? null : externalIdRule)

/** The row of a user without a password. */
export const newUser = (
  facts: Pick<User, 'id' | 'externalId' | 'email' | 'name' | 'pictureUrl' | 'status'>,
  now: number,
): User => ({
  ...facts,
  passwordHash: noPassword,
  isOperator: false,
  suspendedAt: null,
  signInsEndedAt: null,
  erasedAt: null,
  factorDueAt: null,
  createdAt: now,
  updatedAt: now,
})

/** Longest address of a picture, in UTF-16 code units. */
const maximumPictureUrl = 2048

const pictureFault = (text: string): string | null => {
  const isGood = text.length <= maximumPictureUrl && isPlainAddress(text, 'https:')
  return isGood ? null : 'The picture must be an https: URL of at most 2048 characters, without a user name.'
}

/** The user of an external ID; null if there is none. */
export const findBuilderUser = async ({ database }: Platform, externalId: string): Promise<BuilderUser | null> => {
  const user = await database.queries.users.byExternalId(externalId)
  return user === null ? null : builderUser(user)
}

type Asked = { readonly email: string | null; readonly status: UserStatus | null }

/**
 * All users, oldest first, also those that the builder did not send; with an address, that one at most.
 * @throws invalid_request for text that is no address: "nobody" would let the caller create a person who is there
 */
export const listBuilderUsers = async ({ database }: Platform, { email, status }: Asked, page: PageRequest) => {
  const address = email === null ? null : normalizeEmail(email)
  if (email !== null && address === null) throw badInput('email', emailFault(email))
  const rows = await database.queries.users.listPage({ email: address, status }, page.cursor ?? '', page.limit + 1)
  return pageOf(rows.map(builderUser), page.limit, ({ id }) => id)
}

/**
 * Ends all sessions of a user, and unless `only` says sessions everything else that was issued for them.
 * @throws record_not_found, operator_protected
 */
export const endBuilderUserAccess: Operation<
  { readonly externalId: string; readonly only: 'sessions' | null },
  Partial<EndedAccess>
> = async (platform, trace, actor, { externalId, only }) => {
  const user = await ordinaryUser(platform.database.queries, externalId)
  if (user instanceof PlatformError) throw user
  const sparing = sparingOperators(platform, user.id)
  if (only === null) return await endIssued(sparing, trace, actor, { kind: 'user', userId: user.id })
  return {
    sessions: await decide(sparing, trace, { actor, endsAccess: true }, (change) => endSessionsOf(change, user)),
  }
}

/** The user of an external ID whom a service key may change. */
export const ordinaryUser = async (q: Queries, externalId: string): Promise<User | PlatformError> => {
  const user = await q.users.byExternalId(externalId)
  if (user === null) return refuse('record_not_found', { param: 'externalId' })
  return user.isOperator ? refuse('operator_protected') : user
}

/** The platform whose every transaction refuses if the user has become an operator. */
export const sparingOperators = (platform: Platform, userId: string): Platform =>
  checkingFirst(platform, () => ({
    each: async (q) => {
      const user = await q.users.byId(userId)
      return user?.isOperator === true ? refuse('operator_protected') : null
    },
  }))

type Link = { readonly email: string; readonly externalId: string }

/**
 * Joins an existing account to the builder's ID of the same person. For operators, on the command line and the desk.
 * @throws invalid_request for an unknown address, and an ID that is malformed or belongs to another account
 */
export const linkUser: Operation<Link, BuilderUser> = async (platform, trace, actor, input) => {
  refuseStrangeId('externalId', input.externalId)
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const email = normalizeEmail(input.email)
    const user = email === null ? null : await q.users.byEmail(email)
    if (user === null) return badInput('email', 'There is no user with this address.')
    const holder = await q.users.byExternalId(input.externalId)
    if (holder?.id === user.id) return builderUser(user)
    if (holder !== null) return badInput('externalId', 'Another user has this external ID.')
    await q.users.change(user.id, { externalId: input.externalId }, now)
    await record({ action: 'user.linked', target: user.id }) // the ID may tell who it is
    return builderUser({ ...user, externalId: input.externalId, updatedAt: now })
  })
}
