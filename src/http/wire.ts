import type { VersionRecord } from '../operations/versions/version-record.ts'

/** A time on the wire: RFC 3339, UTC, milliseconds. */
export const wireTime = (epochMs: number): string => new Date(epochMs).toISOString()
export const wireTimeOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : wireTime(epochMs))

export const wireVersion = (version: VersionRecord) => ({
  ...version,
  scopes: [...version.scopes],
  rejection: version.rejection === null ? null : { ...version.rejection, items: [...version.rejection.items] },
  createdAt: wireTime(version.createdAt),
  updatedAt: wireTime(version.updatedAt),
  submittedAt: wireTimeOrNull(version.submittedAt),
  reviewedAt: wireTimeOrNull(version.reviewedAt),
  activatedAt: wireTimeOrNull(version.activatedAt),
})
