import type { AccessOf, App, OpenGrant, Queries, User } from '../../db/database.ts'
import { environmentOfClientId } from '../domain/identifier.ts'
import { timeKeyAt } from '../domain/time-key.ts'
import { type AppRecord, appRecord, findAnyApp } from './apps/app-record.ts'
import { type Actor, auditEvent, type AuditStamp, auditStamp, followingStamp } from './audit/event.ts'
import { decideToEnd, done, type Operation } from './decision.ts'
import { userAt } from './users/find-user.ts'
import { announce } from './webhooks/events.ts'

/**
 * Ends everything that was issued for an app. Its client secrets stay valid, so it can get new app tokens at once. Users
 * have to consent again.
 * @throws invalid_request for an unknown slug
 */
export const endAppAccess: Operation<string, { readonly app: AppRecord; readonly ended: EndedAccess }> = async (
  platform,
  trace,
  actor,
  slug,
) => {
  const q = platform.database.queries
  const app = await findAnyApp(q, slug)
  const ended = await endIssued(platform, trace, actor, { kind: 'app', appId: app.id })
  return { app: await appRecord(q, app), ended }
}

/**
 * Ends everything that was issued for a user: sessions, and grants to apps. The password stays valid, so the user can sign
 * in again. The user's own apps do not change.
 * @throws invalid_request for an unknown address
 */
export const endUserAccess: Operation<
  string,
  { readonly user: User; readonly apps: readonly App[]; readonly ended: EndedAccess }
> = async (platform, trace, actor, email) => {
  const user = await userAt(platform, email)
  const ended = await endIssued(platform, trace, actor, { kind: 'user', userId: user.id })
  return { user, apps: await platform.database.queries.apps.listOwnedBy(user.id), ended }
}

/** How many of each still worked when they were ended. */
export type EndedAccess = {
  readonly grants: number
  readonly authorizationCodes: number
  readonly userTokens: number
  readonly appTokens: number
  readonly sessions: number
  readonly embeddedSessions: number
  readonly installSessionCodes: number
}

/** Grants that one transaction ends at most: each leaves an audit event, and other writes must not wait for long. */
const grantsAtOnce = 500

/**
 * Ends everything that was issued for an app or a user: grants with their codes and tokens, sessions, embedded sessions
 * with their codes, and app tokens. Client secrets and passwords stay valid. Each transaction ends a part; the last one
 * checks everything again, so that nothing survives that was issued meanwhile.
 */
export const endIssued: Operation<AccessOf, EndedAccess> = async (platform, trace, actor, of) => {
  const total = { ...nothing }
  let after = ''
  for (;;) {
    const now = platform.clock.now()
    const stamp = auditStamp(platform, trace, now)
    const from = after
    const part = await decideToEnd(platform.database, async (q) =>
      done(await endPart(q, stamp, actor, of, from, total)),
    )
    if (part.kind === 'finished') return part.ended
    Object.assign(total, part.ended)
    after = part.after
  }
}

type Part =
  | { readonly kind: 'unfinished'; readonly ended: EndedAccess; readonly after: string }
  | { readonly kind: 'finished'; readonly ended: EndedAccess }

/** Ends the first grants after the ID, and after the last ones everything else. Returns the new total. */
const endPart = async (
  q: Queries,
  stamp: AuditStamp,
  actor: Actor,
  of: AccessOf,
  after: string,
  before: EndedAccess,
): Promise<Part> => {
  // Sessions end first, because a live session could create another grant.
  const sessions = of.kind === 'user' ? await q.sessions.endAllOfUser(of.userId, stamp.at) : 0
  const batch = await q.access.openGrants(of, after, grantsAtOnce)
  const isLast = batch.length < grantsAtOnce
  // Grants that were created meanwhile may have a lower ID.
  const late = isLast && after !== '' ? await q.access.openGrants(of, '', grantsAtOnce) : []
  const grants = [...new Map([...batch, ...late].map((grant) => [grant.id, grant])).values()]
  for (const [index, grant] of grants.entries()) await revoke(q, followingStamp(stamp, index + 1), actor, grant)
  const ended = plus(before, { ...countOf(grants, stamp.at), sessions })
  const last = grants.at(-1)
  if (last !== undefined && (!isLast || late.length === grantsAtOnce)) {
    return { kind: 'unfinished', ended, after: isLast ? '' : last.id }
  }
  const total = plus(ended, await endTheRest(q, of, stamp.at))
  const action = `${of.kind}.access_ended`
  const target = of.kind === 'app' ? of.appId : of.userId
  const appId = of.kind === 'app' ? of.appId : null
  await q.audit.insert(auditEvent(stamp, { actor, action, appId, target, detail: total }))
  return { kind: 'finished', ended: total }
}

const revoke = async (q: Queries, stamp: AuditStamp, actor: Actor, grant: OpenGrant): Promise<void> => {
  await q.grants.revoke(grant.id, stamp.at)
  const environment = environmentOfClientId(grant.clientId)
  await announce(q, stamp, { actor, action: 'grant.revoked', appId: grant.appId, environment, target: grant.id })
}

const endTheRest = async (q: Queries, of: AccessOf, now: number): Promise<Partial<EndedAccess>> => {
  const embedded = await q.access.endEmbedded(of, now)
  const counts = { embeddedSessions: embedded.sessions, installSessionCodes: embedded.codes }
  if (of.kind === 'user') return counts
  const appTokens = await q.access.countAppTokens([of.appId], timeKeyAt(0), now)
  await q.access.endAppTokens(of.appId, now)
  return { ...counts, appTokens }
}

/** How many of these grants have not expired, and how many of their codes and access tokens still work. */
export const countOf = (
  grants: readonly OpenGrant[],
  now: number,
): Pick<EndedAccess, 'grants' | 'authorizationCodes' | 'userTokens'> => {
  const alive = grants.filter(({ expiresAt }) => expiresAt > now)
  return {
    grants: alive.length,
    authorizationCodes: alive.filter(({ codeExpiresAt }) => (codeExpiresAt ?? 0) > now).length,
    userTokens: alive.filter(({ accessExpiresAt }) => (accessExpiresAt ?? 0) > now).length,
  }
}

const nothing: EndedAccess = {
  grants: 0,
  authorizationCodes: 0,
  userTokens: 0,
  appTokens: 0,
  sessions: 0,
  embeddedSessions: 0,
  installSessionCodes: 0,
}

const plus = (one: EndedAccess, other: Partial<EndedAccess>): EndedAccess => ({
  grants: one.grants + (other.grants ?? 0),
  authorizationCodes: one.authorizationCodes + (other.authorizationCodes ?? 0),
  userTokens: one.userTokens + (other.userTokens ?? 0),
  appTokens: one.appTokens + (other.appTokens ?? 0),
  sessions: one.sessions + (other.sessions ?? 0),
  embeddedSessions: one.embeddedSessions + (other.embeddedSessions ?? 0),
  installSessionCodes: one.installSessionCodes + (other.installSessionCodes ?? 0),
})
