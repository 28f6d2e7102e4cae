import type { VersionRecord } from '../operations/versions/version-record.ts'
import { remembered } from '../domain/remembered.ts'

const rememberedTimes = 4096

/**
 * A time on the wire: RFC 3339, UTC, milliseconds. Answers repeat the same times (of apps, of resources), and writing one out
 * takes 0.2 µs, so recent texts are remembered.
 */
export const wireTime = remembered(rememberedTimes, (epochMs: number): string => new Date(epochMs).toISOString())
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
