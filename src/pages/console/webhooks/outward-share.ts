import type { Door } from '../../../http/door.ts'
import { takeShare } from '../../../http/limits.ts'
import { callOf } from '../../../http/call.ts'
import { visitOf } from '../../visit.ts'

/**
 * Counts a form that makes this server call out while it is answered: each may hold a connection for fifteen seconds,
 * and the one at the other end need not be the developer's own.
 * @throws rate_limited
 */
export const takeOutwardShare = (door: Door, request: Request): void =>
  takeShare(door, callOf(request), 'authorize', visitOf(request).session.user.id)
