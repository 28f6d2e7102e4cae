import type { Platform, Trace } from '../platform.ts'
import { type PurgeKind, purgeBatch, purgeKinds } from './purge.ts'

export type PurgeResult = Readonly<Record<PurgeKind, number>>

/**
 * Removes all that is over, batch by batch. `pause` is awaited between batches and lets other work run; `stopped`
 * ends the walk early. Gives the rows removed per kind; `told` is told of each batch, also where another kind fails.
 * @throws the first failure of a kind, once all other kinds had their turn: what cannot be removed keeps nothing else
 */
export const purgeAll = async (
  platform: Platform,
  trace: Trace,
  pause: () => Promise<void>,
  stopped: () => boolean,
  told: (kind: PurgeKind, rows: number) => void = () => undefined,
): Promise<PurgeResult> => {
  const removed = {
    app_tokens: 0,
    sessions: 0,
    devices: 0,
    form_tickets: 0,
    install_session_codes: 0,
    embedded_sessions: 0,
    grants: 0,
    retry_salts: 0,
    idempotency_keys: 0,
    artifacts: 0,
    webhook_attempts: 0,
    webhook_events: 0,
    webhook_secrets: 0,
    deleted_apps: 0,
    anonymous_refusals: 0,
    audit_events: 0,
  }
  const cursor = { afterGrantId: '' }
  const purgeKind = async (kind: PurgeKind): Promise<void> => {
    let finished = false
    while (!finished && !stopped()) {
      const batch = await purgeBatch(platform, trace, kind, cursor)
      removed[kind] += batch.removed
      if (batch.removed > 0) told(kind, batch.removed)
      finished = batch.finished
      if (!finished) await pause()
    }
  }
  const failures: unknown[] = []
  for (const kind of purgeKinds) await purgeKind(kind).catch((cause: unknown) => failures.push(cause))
  if (failures.length > 0) throw failures[0]
  return removed
}
