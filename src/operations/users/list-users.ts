import type { User } from '../../../db/database.ts'
import type { Platform } from '../platform.ts'

/** Every user, by address. */
export const listUsers = async (platform: Platform): Promise<User[]> => await platform.database.queries.users.list()
