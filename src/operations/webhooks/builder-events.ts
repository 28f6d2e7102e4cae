import type { Queries } from '../../../db/database.ts'
import { builderEventsToldBy, parseStoredKinds, type ToldFacts } from '../../domain/webhook-event.ts'
import { putDeliveries } from '../audit/event.ts'
import { readAudit, type ReadEvent } from '../audit/read-audit.ts'
import type { Platform } from '../platform.ts'
import { storedJson } from '../stored-json.ts'

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
  if (id.startsWith('usr_')) return ofUser(id)
  if (id.startsWith('grt_')) {
    const grant = await q.grants.byId(id)
    return grant === null ? undefined : ofUser(grant.userId)
  }
  const found = id.startsWith('ins_') ? await q.installs.find(id) : null
  if (found === null) return undefined
  return { ...ofUser(found.install.userId), kind: found.kind, resourceId: found.resourceExternalId }
}

/** `bodyNow` fills in the builder's own ID. */
const ofUser = (userId: string): ToldFacts => ({ userId, userExternalId: null })

const withoutPerson = '"userExternalId":null' // inside a text of JSON, the quotes would be escaped

/**
 * The body of a stored event as it is to be sent or shown now. The builder's own ID of a person is not stored in events, which are kept
 * for 30 days and may be sent again: so none names a person after the erasure, nor what was theirs. Events of apps stay as they are.
 */
export const bodyNow = async (q: Queries, body: string): Promise<string> => {
  if (!body.includes(withoutPerson)) return body
  const { data, ...event } = storedJson<{ readonly data: { readonly userId: string; readonly resourceId?: unknown } }>(
    body,
  )
  const user = await q.users.byId(data.userId)
  if (user?.erasedAt === null) {
    return JSON.stringify({ ...event, data: { ...data, userExternalId: user.externalId } })
  }
  return data.resourceId === undefined ? body : JSON.stringify({ ...event, data: { ...data, resourceId: null } })
}
