import { createHash } from 'node:crypto'
import { refuse } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'

/** The file in the store is not, or no longer, the one that was uploaded. */
export class ArtifactDamaged extends Error {
  constructor() {
    super('An artifact does not match its SHA-256.')
    this.name = 'ArtifactDamaged'
  }
}

type OpenedArtifact = {
  readonly sizeBytes: number
  /** One piece is in memory at a time. Throws `ArtifactDamaged` in the place of the last one if the file has changed since. */
  readonly pieces: AsyncGenerator<Uint8Array>
}

/**
 * Gives a stored file piece by piece. It is read twice: first to hash it, so that nothing of a damaged file is handed
 * out and whoever asked learns so from a status, which hashes of single pieces would not give either: the damage may
 * be in the last one. It is hashed again on its way out, as it can be damaged or purged until its last piece is read.
 * @throws ArtifactDamaged; version_not_found when it was purged, which only a replaced draft's is
 */
export const openArtifact = async (platform: Platform, sha256: Uint8Array): Promise<OpenedArtifact> => {
  const artifact = await platform.database.queries.artifacts.find(sha256)
  if (artifact === null) throw refuse('version_not_found')
  const { sizeBytes } = artifact
  for await (const piece of verifiedPieces(platform, sha256, sizeBytes)) void piece
  return { sizeBytes, pieces: verifiedPieces(platform, sha256, sizeBytes) }
}

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
    if (chunk === null || chunk.data.length === 0) throw new ArtifactDamaged()
    hash.update(chunk.data)
    read += chunk.data.length
    held = chunk.data
  }
  if (read !== sizeBytes || !hash.digest().equals(sha256)) throw new ArtifactDamaged()
  if (held.length > 0) yield held
}

/** Lets everybody else run between two pieces. */
const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve))
