import type { App, User } from '../../../db/database.ts'
import { type AppRecord, appRecord } from '../apps/app-record.ts'
import { findAnyApp } from '../apps/find-app.ts'
import type { Actor } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'
import { userAt } from '../users/find-user.ts'
import { type EndedAccess, endIssued } from './end-issued.ts'

/**
 * Ends everything that was issued for an app. Its client secrets stay, so it can ask for new app tokens at once; users
 * have to consent again.
 * @throws invalid_request for an unknown slug
 */
export const endAppAccess = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  slug: string,
): Promise<{ readonly app: AppRecord; readonly ended: EndedAccess }> => {
  const q = platform.database.queries
  const app = await findAnyApp(q, slug)
  const ended = await endIssued(platform, trace, actor, { kind: 'app', appId: app.id })
  return { app: appRecord(app, await q.apps.clientsOf(app.id)), ended }
}

/**
 * Ends everything that was issued for a user: sessions, and what they have allowed to apps. The password stays, so they
 * can sign in again; their own apps are not touched.
 * @throws invalid_request for an unknown address
 */
export const endUserAccess = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  email: string,
): Promise<{ readonly user: User; readonly apps: readonly App[]; readonly ended: EndedAccess }> => {
  const user = await userAt(platform, email)
  const ended = await endIssued(platform, trace, actor, { kind: 'user', userId: user.id })
  return { user, apps: await platform.database.queries.apps.listOwnedBy(user.id), ended }
}
