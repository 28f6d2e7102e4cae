import { artifactLimits } from '../../domain/version.ts'
import type { Platform } from '../platform.ts'

/**
 * Stores an artifact once per SHA-256, in small transactions so that no other write waits for a large upload. Until a
 * version names it, it counts as unused and is purged after a day; storing it again renews that day.
 */
export const storeArtifact = async (platform: Platform, sha256: Uint8Array, bytes: Uint8Array): Promise<void> => {
  const createdAt = platform.clock.now()
  await platform.database.transaction(
    async (q) => await q.artifacts.insert({ sha256, sizeBytes: bytes.byteLength, createdAt }),
  )
  for (let start = 0; start < bytes.byteLength; start += artifactLimits.chunkBytes) {
    const data = bytes.subarray(start, start + artifactLimits.chunkBytes)
    const position = start / artifactLimits.chunkBytes
    await platform.database.transaction(async (q) => await q.artifacts.insertChunk({ sha256, position, data }))
  }
}
