import { createHash } from 'node:crypto'
import type { Queries, VersionContent } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import type { Quotas } from '../../domain/limits.ts'
import { bytesInWords } from '../../domain/text.ts'
import { artifactLimits } from '../../domain/version.ts'
import type { Platform } from '../platform.ts'

/** A file that has arrived whole: the pieces in which it will be stored, and what they hash to. */
export type ReceivedArtifact = {
  readonly pieces: readonly Uint8Array[]
  readonly sizeBytes: number
  readonly sha256: Uint8Array
}

/** Takes a file as it arrives, in pieces of any length, and hashes it on the way. */
type ArtifactIntake = {
  /** @throws payload_too_large as soon as there is more than an artifact may hold */
  take(bytes: Uint8Array): void
  /** What has arrived; nothing may come after. */
  finish(): ReceivedArtifact
}

export const artifactIntake = (): ArtifactIntake => {
  const hash = createHash('sha256')
  const pieces: Uint8Array[] = []
  let filling = new Uint8Array()
  let filled = 0
  let sizeBytes = 0

  const close = () => {
    if (filled > 0) pieces.push(filling.subarray(0, filled))
    filled = 0
  }
  const add = (bytes: Uint8Array) => {
    if (filled === 0) filling = new Uint8Array(artifactLimits.chunkBytes)
    filling.set(bytes, filled)
    filled += bytes.length
    if (filled === artifactLimits.chunkBytes) close()
  }
  return {
    take: (bytes) => {
      sizeBytes += bytes.length
      if (sizeBytes > artifactLimits.bytes) throw tooLarge()
      hash.update(bytes)
      for (let at = 0; at < bytes.length;) {
        const part = bytes.subarray(at, at + artifactLimits.chunkBytes - filled)
        add(part)
        at += part.length
      }
    },
    finish: () => {
      close()
      return { pieces, sizeBytes, sha256: hash.digest() }
    },
  }
}

const tooLarge = () =>
  refuse('payload_too_large', { param: 'artifact.contentBase64', details: { maximumBytes: artifactLimits.bytes } })

/**
 * Stores an artifact once per SHA-256, a piece per transaction so that no other write waits for a large upload. Until a
 * version names it, it counts as unused and is purged after a day; storing it again renews that day, and mends pieces
 * that are no longer what they were.
 */
export const storeArtifact = async (platform: Platform, artifact: ReceivedArtifact): Promise<void> => {
  const { pieces, sizeBytes, sha256 } = artifact
  const createdAt = platform.clock.now()
  await platform.database.transaction(async (q) => await q.artifacts.insert({ sha256, sizeBytes, createdAt }))
  for (const [position, data] of pieces.entries()) {
    await platform.database.transaction(async (q) => await q.artifacts.insertChunk({ sha256, position, data }))
  }
}

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
