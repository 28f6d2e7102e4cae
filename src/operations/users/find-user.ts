import type { Queries, User } from '../../../db/database.ts'
import { normalizeEmail } from '../../domain/user.ts'
import { badInput } from '../decision.ts'
import type { Platform } from '../platform.ts'

/** The user of an email address as somebody typed it; null when it is malformed or nobody's. */
export const findUser = async (q: Queries, address: string): Promise<User | null> => {
  const email = normalizeEmail(address)
  return email === null ? null : await q.users.byEmail(email)
}

/** The same of committed state. @throws invalid_request when there is no such user */
export const userAt = async (platform: Platform, address: string): Promise<User> => {
  const user = await findUser(platform.database.queries, address)
  if (user === null) throw badInput('email', 'There is no such user.')
  return user
}
