import type { Platform } from '../platform.ts'
import type { ReceivedArtifact } from './artifact-intake.ts'

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
