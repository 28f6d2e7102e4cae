import type { Queries } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'

/** The install is this user's; to everybody else it does not exist. */
export const ownsInstall =
  (userId: string, id: string) =>
  async (q: Queries): Promise<PlatformError | null> =>
    (await q.installs.find(id))?.install.userId === userId ? null : refuse('route_not_found')
