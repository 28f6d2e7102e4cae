import type { App, Queries, User } from '../../../db/database.ts'
import { PlatformError } from '../../domain/errors.ts'
import type { Quotas } from '../../domain/limits.ts'
import { badInput, decide, type OpenChange, type Operation } from '../decide.ts'
import { findUser, noUserAt } from '../users/find-user.ts'
import { type AppRecord, appRecord, findApp } from './app-record.ts'
import { refusalIfQuotaFull } from './create-app.ts'

type AppTransfer = { readonly slug: string; readonly email: string }

/**
 * Gives an app to another active user. Its secrets stay valid, and the previous owner may still know them.
 * @throws invalid_request for an unknown slug or address, a disabled user, or a deleted app; quota_exceeded
 */
export const transferApp: Operation<AppTransfer, AppRecord> = async (platform, trace, actor, input) => {
  return await decide(platform, trace, { actor }, async (change) => {
    const { q } = change
    const app = await findApp(q, input.slug)
    const heir = await findHeir(q, platform.quotas, { email: input.email, ownerId: app.ownerId, apps: 1 })
    if (heir instanceof PlatformError) return heir
    return await appRecord(q, await transferTo(change, app, heir))
  })
}

/** The active user with this address, who is not the owner and whose quota has room for `apps` more, or the refusal. */
export const findHeir = async (
  q: Queries,
  quotas: Quotas,
  { email, ownerId, apps }: { readonly email: string; readonly ownerId: string; readonly apps: number },
): Promise<User | PlatformError> => {
  const heir = await findUser(q, email)
  if (heir === null) return noUserAt(email, 'to')
  if (heir.status !== 'active' || heir.id === ownerId) {
    return badInput('to', `${heir.email} cannot own this: the new owner must be another user, and active.`)
  }
  return (await refusalIfQuotaFull(q, quotas, heir.id, apps)) ?? heir
}

/** Changes the owner inside a transaction that has found the heir with `findHeir`. What the previous owner offered ends, and every offer of the app. */
export const transferTo = async ({ q, now, record }: OpenChange, app: App, heir: User): Promise<App> => {
  await q.apps.change(app.id, { ownerId: heir.id }, now)
  await q.appMembers.end(app.id, heir.id, now) // whose membership is in the row of the app from now on
  await q.appInvitations.endAll(app.id, { by: app.ownerId }, now)
  await q.appInvitations.endOffers(app.id, now) // or an older one would take the app from its new owner
  const detail = { from: app.ownerId, to: heir.id }
  await record({ action: 'app.transferred', appId: app.id, target: app.id, detail })
  return { ...app, ownerId: heir.id, updatedAt: now }
}
