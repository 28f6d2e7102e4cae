import type { AccessOf, App, OpenGrant, User } from '../../db/database.ts'
import { PlatformError } from '../domain/errors.ts'
import { environmentOfClientId } from '../domain/identifier.ts'
import { timeKeyAt } from '../domain/time-key.ts'
import { type AppRecord, appRecord, findAnyApp } from './apps/app-record.ts'
import { decide, type OpenChange, type Operation } from './decide.ts'
import { personOf, type Whom } from './users/find-user.ts'

/** An app, and how much of what was issued for it has been ended. */
export type AppWithoutAccess = { readonly app: AppRecord; readonly ended: EndedAccess }

/**
 * Ends everything that was issued for an app. Its client secrets stay valid, so it can get new app tokens at once. Users
 * have to consent again.
 * @throws invalid_request for an unknown slug
 */
export const endAppAccess: Operation<string, AppWithoutAccess> = async (platform, trace, actor, slug) => {
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
  Whom,
  { readonly user: User; readonly apps: readonly App[]; readonly ended: EndedAccess }
> = async (platform, trace, actor, whom) => {
  const user = await personOf(platform.database.queries, whom)
  if (user instanceof PlatformError) throw user
  const ended = await endIssued(platform, trace, actor, { kind: 'user', userId: user.id })
  return { user, apps: await platform.database.queries.apps.listOwnedBy(user.id), ended }
}

/**
 * Ends what could still sign a user in, although it began before: answers of the builder and the identity provider, passwords that wait
 * for a second factor, and the links to set a password or confirm an address, which whoever had a session may have asked for.
 */
export const endBegun = async ({ q, now }: Pick<OpenChange, 'q' | 'now'>, userId: string): Promise<void> => {
  await q.users.endSignIns(userId, now)
  await q.passwordLinks.endAll(userId, now)
}

/**
 * Ends everything that signs a user in: what has begun, the sessions except the one of the key `kept`, and known browsers. Every ending
 * of the sessions of a user is this one. Returns how many were live.
 */
export const endSignIns = async (change: Pick<OpenChange, 'q' | 'now'>, userId: string, kept: string | null = null) => {
  await endBegun(change, userId)
  return await change.q.sessions.endAllOfUser(userId, kept, change.now)
}

/** Ends everything that signs a user in. Returns how many sessions. */
export const endSessionsOf = async (change: OpenChange, { id }: User): Promise<number> => {
  const { record } = change
  const sessions = await endSignIns(change, id)
  if (sessions > 0) await record({ action: 'user.sessions_ended', target: id, detail: { sessions } })
  return sessions
}

/** The same for an operator. The password stays valid. @throws invalid_request for an unknown address */
export const endUserSessions: Operation<Whom, { readonly user: User; readonly sessions: number }> = async (
  platform,
  trace,
  actor,
  whom,
) =>
  await decide(platform, trace, { actor, endsAccess: true }, async (change) => {
    const user = await personOf(change.q, whom)
    return user instanceof PlatformError ? user : { user, sessions: await endSessionsOf(change, user) }
  })

const nothing = {
  grants: 0,
  authorizationCodes: 0,
  userTokens: 0,
  appTokens: 0,
  sessions: 0,
  embeddedSessions: 0,
  installSessionCodes: 0,
}
/** How many of each still worked when they were ended. */
export type EndedAccess = Readonly<typeof nothing>

/** Grants that one transaction ends at most: each leaves an audit event, and other writes must not wait for long. */
const grantsAtOnce = 500

/**
 * Ends everything that was issued for an app or a user: grants with their codes and tokens, sessions, embedded sessions
 * with their codes, and app tokens. Client secrets and passwords stay valid. Each transaction ends a part; the last one
 * checks everything again, so that nothing survives that was issued meanwhile.
 */
export const endIssued: Operation<AccessOf, EndedAccess> = async (platform, trace, actor, of) => {
  let part: Part = { ended: nothing, after: '' }
  do {
    const { ended, after } = part
    part = await decide(platform, trace, { actor, endsAccess: true }, (change) =>
      endPart(change, of, after ?? '', ended),
    )
  } while (part.after !== null)
  return part.ended
}

type Part = {
  /** The new total. */
  readonly ended: EndedAccess
  /** The ID after which the next part begins; null after the last one. */
  readonly after: string | null
}

/**
 * Ends the first grants after the ID, and after the last ones everything else. Events come last: one that is announced locks the client
 * of its app, and whoever has locked that must not wait for a row that another transaction ends.
 */
const endPart = async (change: OpenChange, of: AccessOf, after: string, before: EndedAccess): Promise<Part> => {
  const { q, now, record } = change
  // Sessions end first, because a live session could create another grant.
  const sessions = of.kind === 'user' ? await endSignIns(change, of.userId) : 0
  const batch = await q.access.openGrants(of, after, grantsAtOnce)
  const isLast = batch.length < grantsAtOnce
  // Grants that were created meanwhile may have a lower ID.
  const late = isLast && after !== '' ? await q.access.openGrants(of, '', grantsAtOnce) : []
  const grants = [...new Map([...batch, ...late].map((grant) => [grant.id, grant])).values()]
  for (const { id } of grants) await q.grants.revoke(id, now)
  const counted = countOf(grants, now)
  const ended = {
    ...before,
    grants: before.grants + counted.grants,
    authorizationCodes: before.authorizationCodes + counted.authorizationCodes,
    userTokens: before.userTokens + counted.userTokens,
    sessions: before.sessions + sessions,
  }
  const last = grants.at(-1)
  const isOver = last === undefined || (isLast && late.length < grantsAtOnce)
  const total = isOver ? { ...ended, ...(await endTheRest(change, of)) } : ended
  for (const { id, clientId, appId, userId } of grants) {
    const environment = environmentOfClientId(clientId)
    await record({ action: 'grant.revoked', appId, environment, target: id, told: { userId } })
  }
  if (!isOver) return { ended, after: isLast ? '' : last.id }
  const about = of.kind === 'app' ? { appId: of.appId, target: of.appId } : { target: of.userId }
  await record({ action: `${of.kind}.access_ended`, ...about, detail: total })
  return { ended: total, after: null }
}

const endTheRest = async ({ q, now }: OpenChange, of: AccessOf) => {
  const { sessions: embeddedSessions, codes: installSessionCodes } = await q.access.endEmbedded(of, now)
  if (of.kind === 'user') {
    await q.appInvitations.endAllBy(of.userId, now) // whoever had their sessions may have made them
    return { embeddedSessions, installSessionCodes }
  }
  const appTokens = await q.access.countAppTokens([of.appId], timeKeyAt(0), now)
  await q.access.endAppTokens(of.appId, now)
  return { appTokens, embeddedSessions, installSessionCodes }
}

/** How many of these grants have not expired, and how many of their codes and access tokens still work. */
export const countOf = (grants: readonly OpenGrant[], now: number) => {
  const alive = grants.filter(({ expiresAt }) => expiresAt > now)
  return {
    grants: alive.length,
    authorizationCodes: alive.filter(({ codeExpiresAt }) => (codeExpiresAt ?? 0) > now).length,
    userTokens: alive.filter(({ accessExpiresAt }) => (accessExpiresAt ?? 0) > now).length,
  }
}
