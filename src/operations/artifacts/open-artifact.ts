import { createHash } from 'node:crypto'
import { refuse } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'

/** The stored file differs from the one that was uploaded. */
export class ArtifactDamaged extends Error {
  constructor() {
    super('An artifact does not match its SHA-256.')
    this.name = 'ArtifactDamaged'
  }
}

/**
 * Opens a stored file for reading piece by piece. The file is read twice. The first time it is only hashed, so that the
 * caller can answer a damaged file with an error status before it sends anything. It is hashed again while it is sent,
 * because it may be damaged or removed in between.
 * @throws ArtifactDamaged; version_not_found if it was removed, as happens to the artifact of a replaced draft
 */
export const openArtifact = async (platform: Platform, sha256: Uint8Array) => {
  const artifact = await platform.database.queries.artifacts.find(sha256)
  if (artifact === null) throw refuse('version_not_found')
  const { sizeBytes } = artifact
  for await (const piece of verifiedPieces(platform, sha256, sizeBytes)) void piece
  return { sizeBytes, pieces: verifiedPieces(platform, sha256, sizeBytes) }
}

/** One piece is in memory at a time. @throws ArtifactDamaged instead of the last piece if the file has changed */
async function* verifiedPieces(
  { database }: Platform,
  sha256: Uint8Array,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let read = 0
  let held: Uint8Array = new Uint8Array()
  for (let position = 0; read < sizeBytes; position += 1) {
    if (held.length > 0) yield held
    await turn()
    const chunk = await database.queries.artifacts.chunk(sha256, position)
    if (chunk === null && (await database.queries.artifacts.find(sha256)) === null) throw refuse('version_not_found')
    if (chunk === null || chunk.data.length === 0) throw new ArtifactDamaged()
    hash.update(chunk.data)
    read += chunk.data.length
    held = chunk.data
  }
  if (read !== sizeBytes || !hash.digest().equals(sha256)) throw new ArtifactDamaged()
  if (held.length > 0) yield held
}

/** Lets other requests run between two pieces. */
const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve))
