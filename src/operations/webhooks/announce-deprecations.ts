import type { Queries } from '../../../db/database.ts'
import { type ApiVersion, apiVersions } from '../../domain/api-version.ts'
import { auditEvent, auditStamp } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'

/**
 * Tells the endpoints of every app, once, that a version of the contract will be switched off. Which one that is, this
 * release says.
 */
export const announceDeprecations = async (
  platform: Platform,
  trace: Trace,
  versions: readonly ApiVersion[] = apiVersions,
): Promise<void> => {
  const q = platform.database.queries
  for (const version of versions.filter(({ deprecatedAt }) => deprecatedAt !== null)) {
    for (const appId of await q.webhookEndpoints.listeningApps()) await announce(platform, trace, version, appId)
  }
}

const announce = async (platform: Platform, trace: Trace, version: ApiVersion, appId: string): Promise<void> => {
  const stamp = auditStamp(platform, trace, platform.clock.now())
  const { name, deprecatedAt, sunsetAt } = version
  const detail = { apiVersion: name, deprecatedAt: wireTime(deprecatedAt), sunsetAt: wireTime(sunsetAt) }
  await platform.database.transaction(async (q) => {
    if (await isAnnounced(q, appId, name)) return
    const facts = { action: 'api_version.deprecated', appId, target: name, detail }
    await q.audit.insert(auditEvent(stamp, { actor: { kind: 'system' }, ...facts }))
  })
}

const isAnnounced = async (q: Queries, appId: string, name: string): Promise<boolean> =>
  (await q.audit.pageOfApp(appId, 'api_version.deprecated', '~', 100)).some(({ target }) => target === name)

const wireTime = (epochMs: number | null): string | null => (epochMs === null ? null : new Date(epochMs).toISOString())
