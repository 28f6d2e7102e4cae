import type { Queries, VersionContent } from '../../../db/database.ts'
import { bytesInWords } from '../../domain/text.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import type { Quotas } from '../../domain/limits.ts'
import type { Platform } from '../platform.ts'

/**
 * The refusal when the artifacts of this app would take more than QUOTA_ARTIFACT_BYTES; null when they do not, or take no more
 * than before. An artifact counts once, and that of the draft to be replaced (null for a new version) not at all. To be asked
 * in the transaction that stores the version.
 */
export const refusalIfOverQuota = async (
  q: Queries,
  quotas: Quotas,
  appId: string,
  replaced: { readonly id: string } | null,
  { artifactSha256, artifactSizeBytes }: Pick<VersionContent, 'artifactSha256' | 'artifactSizeBytes'>,
): Promise<PlatformError | null> => {
  if (artifactSha256 === null || artifactSizeBytes === null) return null
  const { versions } = q
  const bytes = await versions.artifactBytesWith(appId, replaced?.id ?? null, artifactSha256, artifactSizeBytes)
  const maximumBytes = quotas.artifactBytes
  if (bytes <= maximumBytes) return null
  const usedBytes = await versions.artifactBytes(appId)
  if (bytes <= usedBytes) return null
  const words = `${bytesInWords(maximumBytes)}, and ${bytesInWords(usedBytes)} are used`
  const message = `An app's artifacts may take at most ${words}. Upload a smaller one, replace a draft, or ask the operator to raise QUOTA_ARTIFACT_BYTES.`
  return refuse('quota_exceeded', { param: 'artifact', details: { maximumBytes, usedBytes }, message })
}

/** What the artifacts of an app take, each counted once, and may take. */
export const artifactUse = async ({ database, quotas }: Platform, appId: string) => ({
  bytes: await database.queries.versions.artifactBytes(appId),
  allowedBytes: quotas.artifactBytes,
})
