import { auditEvent, auditStamp } from '../audit/event.ts'
import type { Platform, Trace } from '../platform.ts'
import type { VersionRecord } from '../versions/version-record.ts'

/** Whose file was taken, and by whom: a developer of the app, or an operator. */
export type Download = {
  readonly app: { readonly id: string }
  readonly version: Pick<VersionRecord, 'id' | 'revision' | 'artifact'>
  readonly actor: { readonly kind: 'user' | 'operator'; readonly id: string }
}

/** Leaves the audit row of a download. To be called before the file is handed out: what cannot be recorded is not given. */
export const recordDownload = async (
  platform: Platform,
  trace: Trace,
  { app, version, actor }: Download,
): Promise<void> => {
  const stamp = auditStamp(platform, trace, platform.clock.now())
  const { id: target, revision, artifact } = version
  const detail = { revision, sha256: artifact?.sha256 ?? null }
  const event = auditEvent(stamp, { actor, action: 'version.artifact_downloaded', appId: app.id, target, detail })
  await platform.database.transaction(async (q) => await q.audit.insert(event))
}
