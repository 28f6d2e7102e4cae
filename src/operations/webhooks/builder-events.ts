import type { Queries } from '../../../db/database.ts'
import { builderEventsToldBy, parseStoredKinds, type ToldFacts } from '../../domain/webhook-event.ts'
import { putDeliveries } from '../audit/event.ts'
import { readAudit, type ReadEvent } from '../audit/read-audit.ts'
import type { Platform } from '../platform.ts'

/** Events of the audit that one transaction tells. */
const toldAtOnce = 200

/**
 * Tells the builder's endpoints what the audit log has since the last time. Its positions follow the commits, and the transaction that
 * writes the events also moves the position that was told. So no event is missed, none is told twice under another ID, and nothing that
 * happens elsewhere waits for it.
 */
export const tellBuilder = async (platform: Platform): Promise<void> => {
  const { queries: q } = platform.database
  if ((await q.webhookEndpoints.ofBuilder()).length === 0) return
  for (let isMore = true; isMore;) {
    const told = await q.watermarks.find('told')
    const { data, next } = await readAudit(platform, told ?? 0, toldAtOnce)
    if (data.length === 0) return
    const events: Awaited<ReturnType<typeof eventsOf>>[number][] = []
    for (const row of data) events.push(...(await eventsOf(q, row)))
    isMore = data.length === toldAtOnce
    const now = platform.clock.now()
    await platform.database.transaction(async (q) => {
      if (!(await q.watermarks.advance('told', told, next))) return
      const endpoints = await q.webhookEndpoints.ofBuilder()
      for (const { event, at } of events) {
        const listening = endpoints.filter(({ kinds }) => parseStoredKinds(kinds, 'builder').includes(event.kind))
        if (listening.length === 0) continue
        await putDeliveries(q, await q.webhookEvents.put(event, at), listening, now)
      }
    })
  }
}

const eventsOf = async (q: Queries, { detail, ...row }: ReadEvent) => {
  const fact = { ...row, detail: detail === null ? null : JSON.stringify(detail) }
  const about = builderEventsToldBy(fact).length === 0 ? undefined : await factsAbout(q, row)
  return builderEventsToldBy(fact, about).map((event) => ({ event, at: row.at }))
}

/** Whom and what a row is about, by the builder's own IDs, as far as they are still known. */
const factsAbout = async (q: Queries, { target }: Pick<ReadEvent, 'target'>): Promise<ToldFacts | undefined> => {
  const id = target ?? ''
  if (id.startsWith('usr_')) return await ofUser(q, id)
  if (id.startsWith('grt_')) {
    const grant = await q.grants.byId(id)
    return grant === null ? undefined : await ofUser(q, grant.userId)
  }
  const found = id.startsWith('ins_') ? await q.installs.find(id) : null
  if (found === null) return undefined
  return { ...(await ofUser(q, found.install.userId)), kind: found.kind, resourceId: found.resourceExternalId }
}

const ofUser = async (q: Queries, userId: string): Promise<ToldFacts> => ({
  userId,
  userExternalId: (await q.users.byId(userId))?.externalId ?? null,
})
