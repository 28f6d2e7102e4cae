// Every webhook event starts in this file, but for the `ping` of a test (deliveries.ts). An operation whose change
// endpoints hear of calls `announce` in the transaction of that change, so either both are kept or neither is.

import type { Queries } from '../../../db/database.ts'
import { type ApiVersion, apiVersions } from '../../domain/api-version.ts'
import { type AnnouncedAction, eventsToldBy, parseStoredKinds } from '../../domain/webhook-event.ts'
import { type AuditFacts, type AuditStamp, auditRow, auditStamp } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'

/**
 * Writes the audit row of a change, its webhook events, and one delivery of each event for every endpoint that asked for
 * that kind. A disabled endpoint gets a delivery too: it is sent when the endpoint is enabled. Call it in the
 * transaction of the change. Nothing is written for an event that no endpoint asked for.
 */
export const announce = async (
  q: Queries,
  stamp: AuditStamp,
  facts: AuditFacts & { readonly action: AnnouncedAction },
): Promise<void> => {
  const row = auditRow(stamp, facts)
  await q.audit.insert(row)
  for (const event of eventsToldBy(row)) {
    const endpoints = await q.webhookEndpoints.ofPlace(event.appId, event.environment)
    const listening = endpoints.filter(({ kinds }) => parseStoredKinds(kinds).includes(event.kind))
    if (listening.length === 0) continue
    const position = await q.webhookEvents.put(event, row.at)
    for (const { id: endpointId } of listening) {
      await q.webhookEvents.putDelivery({
        position,
        endpointId,
        state: 'pending',
        attempts: 0,
        nextAttemptAt: row.at,
      })
    }
  }
}

/** Announces once to every app that has an endpoint which versions of the contract this release will switch off. */
export const announceDeprecations = async (
  platform: Platform,
  trace: Trace,
  versions: readonly ApiVersion[] = apiVersions,
): Promise<void> => {
  const q = platform.database.queries
  for (const version of versions.filter(({ deprecatedAt }) => deprecatedAt !== null)) {
    for (const appId of await q.webhookEndpoints.listeningApps()) {
      await announceDeprecation(platform, trace, version, appId)
    }
  }
}

const announceDeprecation = async (
  platform: Platform,
  trace: Trace,
  { name, deprecatedAt, sunsetAt }: ApiVersion,
  appId: string,
): Promise<void> => {
  const stamp = auditStamp(platform, trace, platform.clock.now())
  const detail = { apiVersion: name, deprecatedAt: wireTime(deprecatedAt), sunsetAt: wireTime(sunsetAt) }
  await platform.database.transaction(async (q) => {
    const announced = await q.audit.pageOfApp(appId, 'api_version.deprecated', '~', 100)
    if (announced.some(({ target }) => target === name)) return
    const actor = { kind: 'system' } as const
    await announce(q, stamp, { actor, action: 'api_version.deprecated', appId, target: name, detail })
  })
}

const wireTime = (epochMs: number | null): string | null => (epochMs === null ? null : new Date(epochMs).toISOString())
