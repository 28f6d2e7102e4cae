import type { Queries, User } from '../../../db/database.ts'
import { normalizeEmail } from '../../domain/email.ts'

/** The user of an email address as somebody typed it; null when it is malformed or nobody's. */
export const findUser = async (q: Queries, address: string): Promise<User | null> => {
  const email = normalizeEmail(address)
  return email === null ? null : await q.users.byEmail(email)
}
