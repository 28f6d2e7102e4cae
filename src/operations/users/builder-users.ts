// Users as the builder sends them. A service key never creates, changes or ends an operator.

import type { Queries, User } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { isForeignId } from '../../domain/foreign-id.ts'
import { recordId } from '../../domain/identifier.ts'
import { statedPersonName } from '../../domain/entered-name.ts'
import { noPassword } from '../../domain/password.ts'
import { pick } from '../../domain/pick.ts'
import { emailFault, localPartOf, normalizeEmail, type UserStatus } from '../../domain/user.ts'
import { checkingFirst } from '../acting-as.ts'
import { badInput, decide, type Operation, refuseFault } from '../decide.ts'
import { endIssued, endSessionsOf, type EndedAccess } from '../end-access.ts'
import { pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import { changeUser } from './change-user.ts'

/** A user as the builder sees them. */
export type BuilderUser = ReturnType<typeof builderUser>

export const builderUser = (user: User) => ({
  ...pick(user, 'id', 'externalId', 'email', 'name', 'pictureUrl', 'status', 'isOperator'),
  hasPassword: user.passwordHash !== noPassword,
  createdAt: user.createdAt,
  updatedAt: user.updatedAt,
})

type StatedUser = {
  readonly externalId: string
  readonly email: string
  readonly name: string
  readonly pictureUrl: string | null
  /** Null leaves the status of a known user as it is; a new one is active. */
  readonly status: UserStatus | null
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
  if (!isForeignId('external ID', stated.externalId)) throw badInput('externalId', externalIdRule)
  const email = normalizeEmail(stated.email)
  if (email === null) throw badInput('email', emailFault(stated.email))
  refuseFault('pictureUrl', stated.pictureUrl === null ? null : pictureFault(stated.pictureUrl))
  const now = platform.clock.now()
  const id = recordId('usr_', platform.random.uuid(now))
  const { externalId, pictureUrl, status } = stated
  const name = statedPersonName(stated.name, localPartOf(email))
  return await decide(platform, trace, { actor, now }, async (change) => {
    const before = await change.q.users.byExternalId(externalId)
    const holder = await change.q.users.byEmail(email)
    if (before?.isOperator === true) return refuse('operator_protected')
    if (holder !== null && holder.id !== before?.id) return refuse('email_taken', { param: 'email' })
    if (before === null) {
      const user = newUser({ id, externalId, email, name, pictureUrl, status: status ?? 'active' }, now)
      await change.q.users.insert(user)
      await change.record({ action: 'user.created', target: id, detail: { operator: false } })
      return { user: builderUser(user), created: true }
    }
    const { user } = await changeUser(change, before, { email, name, pictureUrl, status: status ?? before.status })
    return { user: builderUser(user), created: false }
  })
}

export const externalIdRule = 'An external ID is 1 to 128 visible ASCII characters, and not one or two dots.'

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
  const isHttps = text.length <= maximumPictureUrl && URL.parse(text)?.protocol === 'https:'
  return isHttps ? null : 'The picture must be an https: URL of at most 2048 characters.'
}

/** The user of an external ID; null if there is none. */
export const findBuilderUser = async ({ database }: Platform, externalId: string): Promise<BuilderUser | null> => {
  const user = await database.queries.users.byExternalId(externalId)
  return user === null ? null : builderUser(user)
}

type Asked = { readonly email: string | null; readonly status: UserStatus | null }

/** All users, oldest first, also those that the builder did not send; with an address, that one at most. */
export const listBuilderUsers = async ({ database }: Platform, { email, status }: Asked, page: PageRequest) => {
  const address = email === null ? null : normalizeEmail(email)
  if (email !== null && address === null) return { data: [], nextCursor: null }
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
  if (!isForeignId('external ID', input.externalId)) throw badInput('externalId', externalIdRule)
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
