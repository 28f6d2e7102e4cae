import type { VersionRecord } from '../operations/versions/version-record.ts'

const rememberedTimes = 4096
const times = new Map<number, string>()

/**
 * A time on the wire: RFC 3339, UTC, milliseconds. Answers repeat the same times (of apps, of resources), and writing one out
 * takes 0.2 µs, so recent texts are remembered and all forgotten at once.
 */
export const wireTime = (epochMs: number): string => {
  const known = times.get(epochMs)
  if (known !== undefined) return known
  const text = new Date(epochMs).toISOString()
  if (times.size >= rememberedTimes) times.clear()
  times.set(epochMs, text)
  return text
}
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
