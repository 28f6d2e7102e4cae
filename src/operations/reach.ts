// How much would end or stop. Confirmation pages show it, so every count reads a limited number of rows.

import type { AccessOf, Queries } from '../../db/database.ts'
import { keyOfUuidTime } from '../domain/identifier.ts'
import { maximumLifetimes } from '../domain/lifetimes.ts'
import { type TimeKey, timeKeyAt } from '../domain/time-key.ts'
import { countOf } from './end-access.ts'
import { beyondEveryId } from './page.ts'
import type { Platform } from './platform.ts'

/** A count; `exact` is false if there may be more, because not every row was read. */
export type Reached = { readonly count: number; readonly exact: boolean }

/** Grants and app tokens that are read at most. */
const grantsRead = 2_000
const tokensRead = 20_000

/** Counts what was issued for an app or a user and has neither ended nor expired. */
export const reachOf = async ({ database, clock }: Platform, of: AccessOf) => {
  const q = database.queries
  const now = clock.now()
  const open = await q.access.openGrants(of, '', grantsRead)
  const alive = open.filter(({ expiresAt }) => expiresAt > now)
  const { grants, userTokens } = countOf(open, now)
  const exact = open.length < grantsRead
  const since = keyOfUuidTime(now - maximumLifetimes.embeddedSession * 1000)
  return {
    /** Users who have granted the app access. */
    users: { count: new Set(alive.map(({ userId }) => userId)).size, exact },
    /** Apps that have access to the user. */
    apps: { count: new Set(alive.map(({ appId }) => appId)).size, exact },
    grants: { count: grants, exact },
    userTokens: { count: userTokens, exact },
    embeddedSessions: { count: await q.access.countEmbedded(of, since, now), exact: true },
  }
}

/** Counts the app tokens of these apps, or of one secret, that still work. */
export const appTokensOf = async (
  { database, clock }: Platform,
  of: { readonly apps: readonly string[] } | { readonly secret: string },
): Promise<Reached> => {
  const q = database.queries
  const now = clock.now()
  if ('apps' in of && of.apps.length === 0) return { count: 0, exact: true }
  const { since, exact } = await firstToken(q, now)
  const count =
    'apps' in of
      ? await q.access.countAppTokens(of.apps, since, now)
      : await q.access.countTokensOfSecret(of.secret, since, now)
  return { count, exact }
}

/** The oldest app token that can be alive and is among those that are read. */
const firstToken = async (q: Queries, now: number): Promise<{ readonly since: TimeKey; readonly exact: boolean }> => {
  const oldest = timeKeyAt(now - maximumLifetimes.appToken * 1000)
  const before = await q.access.appTokenBefore(tokensRead)
  return before === null || before < oldest ? { since: oldest, exact: true } : { since: before, exact: false }
}

/** How many sessions of the user are live. */
export const liveSessionsOf = async ({ database, clock, lifetimes }: Platform, userId: string): Promise<Reached> => {
  const now = clock.now()
  const rows = await database.queries.sessions.openOfUser(userId, {
    now,
    usedAfter: now - lifetimes.sessionIdle * 1000,
    before: beyondEveryId,
    limit: sessionsRead + 1,
  })
  return { count: Math.min(rows.length, sessionsRead), exact: rows.length <= sessionsRead }
}
const sessionsRead = 500
