import type { Place, Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { isRowKey } from '../../domain/identifier.ts'
import { actorOf, type SessionCaller } from '../authenticate.ts'
import { decide } from '../decide.ts'
import { endBegun, endSignIns } from '../end-access.ts'
import { canBeFound, emptyPage, listPage, newestPlace, type PageRequest, strangeCursor } from '../page.ts'
import type { Platform, Trace } from '../platform.ts'
import { userAt } from '../users/find-user.ts'

/**
 * The caller's live sessions, newest first: not ended, not expired and not idle for too long. With `part`, those whose browser
 * or address contains it.
 * @throws invalid_request for a cursor that this list did not return
 */
export const listSessions = async (platform: Platform, caller: SessionCaller, page: PageRequest, part = '') => {
  if (page.cursor !== null && !isRowKey(page.cursor)) throw strangeCursor()
  if (!canBeFound(part)) return emptyPage
  const now = platform.clock.now()
  const usedAfter = now - platform.lifetimes.sessionIdle * 1000
  const read = async (before: Place, limit: number) =>
    await platform.database.queries.sessions.openOfUser(caller.user.id, {
      now,
      usedAfter,
      before,
      limit,
      ...(part !== '' && { part }),
    })
  const found = await listPage(page, newestPlace, read, ({ key }) => key)
  return { ...found, data: found.data.map((row) => recordOf(row, caller)) }
}

const mostShown = 1_000

/** The same of any user, at most a thousand, for operators. @throws invalid_request for an unknown address */
export const listSessionsOfUser = async (platform: Platform, email: string) => {
  const { id } = await userAt(platform, email)
  const now = platform.clock.now()
  const asked = {
    now,
    usedAfter: now - platform.lifetimes.sessionIdle * 1000,
    before: newestPlace(null),
    limit: mostShown,
  }
  return (await platform.database.queries.sessions.openOfUser(id, asked)).map(factsOf)
}

/** One session of the caller, live or not. @throws route_not_found if the caller has none of this key */
export const findOwnSession = async ({ database }: Platform, caller: SessionCaller, key: string) => {
  const found = isRowKey(key) ? await database.queries.sessions.find(key) : null
  if (found?.user.id !== caller.user.id) throw refuse('route_not_found')
  return recordOf(found.session, caller)
}

type Row = Awaited<ReturnType<Queries['sessions']['openOfUser']>>[number]

const recordOf = (row: Row, caller: SessionCaller) => ({
  /** Identifies the session and cannot be used to sign in. */
  key: row.key,
  /** Whether it is the session of this request. */
  isCurrent: row.key === caller.sessionKey,
  ...factsOf(row),
})

const factsOf = (row: Row) => ({
  /** Where it was last used from, to five minutes. */
  address: row.address,
  /** What the browser said it is; null if it said nothing. */
  agent: row.agent,
  createdAt: row.createdAt,
  /** Epoch milliseconds, to five minutes. */
  usedAt: row.lastUsedAt ?? row.createdAt,
  expiresAt: row.expiresAt,
})

/** A session as its owner sees it. */
export type SessionRecord = ReturnType<typeof recordOf>

/** Ends the caller's session. Once this has returned, the session is refused. */
export const signOut = async (platform: Platform, trace: Trace, caller: SessionCaller): Promise<void> => {
  const target = caller.sessionKey
  await decide(
    platform,
    trace,
    { actor: actorOf(caller), kind: 'guarded', endsAccess: true },
    async ({ q, now, record }) => {
      if (await q.sessions.end(target, now)) await record({ action: 'session.ended', target })
    },
  )
}

/**
 * Ends one of the caller's sessions by its key, with every sign-in that has begun. Returns false if it had already ended.
 * @throws route_not_found if the caller has no session of this key, even if another user has
 */
export const endSession = async (platform: Platform, trace: Trace, caller: SessionCaller, key: string) =>
  await decide(platform, trace, { actor: actorOf(caller), endsAccess: true }, async (change) => {
    const { q, now, record } = change
    await q.users.byId(caller.user.id)
    const ended = await q.sessions.endOfUser(caller.user.id, key, now)
    if (ended) await endBegun(change, caller.user.id)
    if (ended) await record({ action: 'session.ended', target: key })
    const isOwn = ended || (await q.sessions.find(key))?.user.id === caller.user.id
    return isOwn ? ended : refuse('route_not_found')
  })

/** Ends every session of the caller, also the one of this request, with everything else that signs them in. Returns how many sessions. */
export const endEverySession = async (platform: Platform, trace: Trace, caller: SessionCaller): Promise<number> =>
  await decide(platform, trace, { actor: actorOf(caller), endsAccess: true }, async (change) => {
    const { record } = change
    const ended = await endSignIns(change, caller.user.id)
    if (ended > 1) await record({ action: 'sessions.ended', detail: { ended: ended - 1 } })
    if (ended > 0) await record({ action: 'session.ended', target: caller.sessionKey })
    return ended
  })

/** The same for every other session of the caller. */
export const endOtherSessions = async (platform: Platform, trace: Trace, caller: SessionCaller): Promise<number> =>
  await decide(platform, trace, { actor: actorOf(caller), endsAccess: true }, async (change) => {
    const { record } = change
    const ended = await endSignIns(change, caller.user.id, caller.sessionKey)
    if (ended > 0) await record({ action: 'sessions.ended', detail: { ended } })
    return ended
  })
