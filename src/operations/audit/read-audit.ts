import { recordIdOfTime, uuidTimeOfRecordId } from '../../domain/identifier.ts'
import { storedJson } from '../stored-json.ts'
import type { Platform } from '../platform.ts'

/** Events that get positions in one transaction, and the oldest that a commit may come after its ID. */
const numberedAtOnce = 5_000
const latestCommitMs = 10 * 60_000

/** An event as readers from outside get it. */
export type ReadEvent = Awaited<ReturnType<typeof readAudit>>['data'][number]

/**
 * Events after a position, in the order in which they became readable: a reader who asks again with the last position misses
 * none and gets none twice. IDs of events precede their commit, so positions are given here, to what has been committed.
 */
export const readAudit = async (platform: Platform, after: number, limit: number) => {
  const { database } = platform
  const last = await database.queries.auditReading.lastNumbered()
  const since = last === null ? '' : recordIdOfTime('aud_', uuidTimeOfRecordId(last.eventId) - latestCommitMs)
  const found = await database.queries.auditReading.after(after, limit)
  if (found.length < limit) {
    let numbered = numberedAtOnce
    while (numbered === numberedAtOnce) {
      numbered = await database.transaction((q) => q.auditReading.number(since, numberedAtOnce))
    }
  }
  const rows = found.length < limit ? await database.queries.auditReading.after(after, limit) : found
  const data = rows.map(({ position, event }) => ({
    position,
    id: event.id,
    at: event.at,
    actorKind: event.actorId?.startsWith('svk_') === true ? 'service' : event.actorKind,
    actorId: event.actorId,
    appId: event.appId,
    environment: event.environment,
    action: event.action,
    target: event.target,
    outcome: event.outcome,
    reason: event.reason,
    detail: event.detail === null ? null : storedJson<Readonly<Record<string, unknown>>>(event.detail),
    requestId: event.requestId,
    address: event.address,
  }))
  return { data, next: data.at(-1)?.position ?? after }
}
