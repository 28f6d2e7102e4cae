import type { User } from '../../../db/database.ts'
import { type Page, type PageRequest, searchPage } from '../page.ts'
import type { Platform } from '../platform.ts'

/** A user without the hash of their password. */
export type UserSummary = Pick<
  User,
  'id' | 'email' | 'name' | 'isOperator' | 'status' | 'passwordSuspendedAt' | 'createdAt'
>

/** Users whose name or address has this part, by address; all of them for an empty one. */
export const searchUsers = async (platform: Platform, part: string, page: PageRequest): Promise<Page<UserSummary>> => {
  const { data, nextCursor } = await searchPage(
    platform.database.queries.users.search,
    part,
    page,
    ({ email }) => email,
  )
  return { data: data.map(userSummary), nextCursor }
}

/** What operators see of a user. */
export const userSummary = ({
  id,
  email,
  name,
  isOperator,
  status,
  passwordSuspendedAt,
  createdAt,
}: User): UserSummary => ({
  id,
  email,
  name,
  isOperator,
  status,
  passwordSuspendedAt,
  createdAt,
})
