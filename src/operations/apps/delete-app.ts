import { isUndeletable } from '../../domain/app.ts'
import { type AppWithoutAccess, endIssued } from '../end-access.ts'
import { badInput, decide, type Operation } from '../decide.ts'
import { refusalIfQuotaFull } from './create-app.ts'
import { type AppRecord, appRecord, findAnyApp } from './app-record.ts'

/**
 * Deletes an app. It is suspended and hidden at once and its webhooks stop; then everything issued for it ends. It can be
 * undeleted for 7 days; after that the purge removes it. If the deletion was interrupted, repeat it to end the rest.
 * @throws invalid_request for an unknown slug
 */
export const deleteApp: Operation<string, AppWithoutAccess> = async (platform, trace, actor, slug) => {
  const app = await decide(platform, trace, { actor, endsAccess: true }, async ({ q, now, record }) => {
    const found = await findAnyApp(q, slug)
    if (found.deletedAt !== null) return await appRecord(q, found)
    await q.apps.setDeleted(found.id, now, now)
    const detail = { slug: found.slug, status: found.status }
    await record({ action: 'app.deleted', appId: found.id, target: found.id, detail })
    return await appRecord(q, { ...found, status: 'suspended', deletedAt: now, updatedAt: now })
  })
  return { app, ended: await endIssued(platform, trace, actor, { kind: 'app', appId: app.id }) }
}

/**
 * Undeletes an app; it stays suspended. Everything that was issued for it stays ended, and is ended here first if the
 * deletion was interrupted.
 * @throws invalid_request for an unknown slug, an app that is not deleted, or was deleted more than 7 days ago;
 *   quota_exceeded
 */
export const undeleteApp: Operation<string, AppRecord> = async (platform, trace, actor, slug) => {
  const { id, deletedAt } = await findAnyApp(platform.database.queries, slug)
  if (deletedAt !== null) await endIssued(platform, trace, actor, { kind: 'app', appId: id })
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const app = await findAnyApp(q, slug)
    if (app.deletedAt === null) return badInput('app', 'This app is not deleted.')
    if (!isUndeletable(app.deletedAt, now)) return badInput('app', tooLate)
    const overQuota = await refusalIfQuotaFull(q, platform.quotas, app.ownerId, 1, 0)
    if (overQuota !== null) return overQuota
    await q.apps.setDeleted(app.id, null, now)
    await record({ action: 'app.undeleted', appId: app.id, target: app.id })
    return await appRecord(q, { ...app, deletedAt: null, updatedAt: now })
  })
}

const tooLate = 'This app was deleted more than 7 days ago and cannot be brought back.'
