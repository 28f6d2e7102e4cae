import { type ApiVersion, apiVersions } from '../../domain/api-version.ts'
import { system } from '../audit/event.ts'
import { decide } from '../decide.ts'
import { beyondEveryId } from '../page.ts'
import type { Platform, Trace } from '../platform.ts'

/** Announces once to every app that has an endpoint which versions of the contract this release will switch off. */
export const announceDeprecations = async (
  platform: Platform,
  trace: Trace,
  versions: readonly ApiVersion[] = apiVersions,
): Promise<void> => {
  for (const { name, deprecatedAt, sunsetAt } of versions.filter((version) => version.deprecatedAt !== null)) {
    const detail = { apiVersion: name, deprecatedAt: wireTime(deprecatedAt), sunsetAt: wireTime(sunsetAt) }
    for (const appId of await platform.database.queries.webhookEndpoints.listeningApps()) {
      await decide(platform, trace, { actor: system }, async ({ q, record }) => {
        const announced = await q.audit.pageOfApp(appId, 'api_version.deprecated', beyondEveryId, 100)
        if (announced.some(({ target }) => target === name)) return
        await record({ action: 'api_version.deprecated', appId, target: name, detail })
      })
    }
  }
}

const wireTime = (epochMs: number | null): string | null => (epochMs === null ? null : new Date(epochMs).toISOString())
