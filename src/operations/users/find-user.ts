import type { Counted, Queries, User, UserOrder, UserQuestion } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { noPassword } from '../../domain/password.ts'
import { pick } from '../../domain/pick.ts'
import { emailFault, normalizeEmail } from '../../domain/user.ts'
import { badInput } from '../decide.ts'
import { factorsOf } from '../factors/factors.ts'
import { canBeFound, emptyPage, type ListPage, none, type PageRequest, searchPage, startOf } from '../page.ts'
import type { Platform } from '../platform.ts'

/** The user with an email address as a person typed it; null when it is malformed or unknown. */
export const findUser = async (q: Queries, address: string): Promise<User | null> => {
  const email = normalizeEmail(address)
  return email === null ? null : await q.users.byEmail(email)
}

/** `field` is the input that has the address. */
export const noUserAt = (address: string, field: 'email' | 'to' = 'email'): PlatformError =>
  badInput(
    field,
    normalizeEmail(address) === null ? emailFault(address) : `There is no user with the address ${address}.`,
  )

/**
 * How a call names a person: by the address that somebody has typed, or by their ID. A caller that has the ID names them by it, because
 * an address may be another person's by the time that the transaction reads it.
 */
export type Whom = { readonly email: string } | { readonly userId: string }

/** The person, or the refusal that a transaction returns when there is none. Who was erased is nobody. */
export const personOf = async (q: Queries, whom: Whom): Promise<User | PlatformError> => {
  if ('email' in whom) return (await findUser(q, whom.email)) ?? noUserAt(whom.email)
  const user = await q.users.byId(whom.userId)
  return user?.erasedAt === null ? user : badInput('user', 'There is no such user.')
}

/** The user with an email address. @throws invalid_request when there is none */
export const userAt = async (platform: Platform, email: string): Promise<User> => {
  const user = await personOf(platform.database.queries, { email })
  if (user instanceof PlatformError) throw user
  return user
}

/** Users who match, in this order. */
export const searchUsers = async (
  { database: { queries: q } }: Platform,
  question: UserQuestion,
  by: UserOrder,
  page: PageRequest,
): Promise<ListPage<UserSummary>> => {
  if (!canBeFound(question.part)) return emptyPage
  const [first, positionOf] = by === 'email' ? ['', ({ email }: User) => email] : [startOf(by), ({ id }: User) => id]
  const found = await searchPage(page, first, (window) => q.users.search(question, by, window), positionOf)
  return { ...found, data: found.data.map(userSummary) }
}

/** How many users match. */
export const countUsers = async ({ database }: Platform, question: UserQuestion): Promise<Counted> =>
  canBeFound(question.part) ? await database.queries.users.countFound(question) : none

/** A user as operators see it, without the hash of the password. */
export type UserSummary = ReturnType<typeof userSummary>

export const userSummary = (user: User) => ({
  ...pick(user, 'id', 'email', 'name', 'isOperator', 'status', 'suspendedAt', 'createdAt'),
  /** The builder's own ID; null for a user whom the builder did not send. */
  externalId: user.externalId,
  hasPassword: user.passwordHash !== noPassword,
})

/** Whether anybody has an account: on a fresh server nobody can sign in. */
export const hasAccounts = async ({ database: { queries: q } }: Platform): Promise<boolean> =>
  (await q.users.listPage({ email: null, status: null }, '', 1)).length > 0

/** All users, by address. */
export const listUsers = async (platform: Platform): Promise<User[]> => await platform.database.queries.users.list()

/** What the desk shows an operator about a user. */
export type InspectedUser = Awaited<ReturnType<typeof inspectUser>>

/** @throws route_not_found for an unknown ID */
export const inspectUser = async (platform: Platform, id: string) => {
  const q = platform.database.queries
  const user = await q.users.byId(id)
  if (user === null) throw refuse('route_not_found')
  const apps = (await q.apps.listOwnedBy(id)).map(({ id: appId, slug, name, status }) => ({
    appId,
    slug,
    name,
    status,
  }))
  const identities = await q.identities.ofUser(id)
  const lastMail = await q.mails.latestTo(id)
  const holders = await Promise.all(
    identities.map(async ({ addressHolderId }) =>
      addressHolderId === null ? null : await q.users.byId(addressHolderId),
    ),
  )
  return {
    ...userSummary(user),
    apps,
    issuers: identities.map(({ issuer }) => issuer),
    /** Who has an address that an identity provider says this user has. */
    addressHolders: holders.flatMap((holder) => (holder === null ? [] : [{ id: holder.id, name: holder.name }])),
    factors: await factorsOf(platform, id),
    /** Why the last mail was given up; null if it was sent. */
    lastMailFault: lastMail?.state === 'failed' ? lastMail.fault : null,
  }
}

/** What a command shows about a user. @throws invalid_request for an unknown address */
export const showUser = async (platform: Platform, email: string) => {
  const { apps, addressHolders, ...user } = await inspectUser(platform, (await userAt(platform, email)).id)
  return { ...user, apps: apps.map(({ slug }) => slug), addressHolders: addressHolders.map(({ name }) => name) }
}
