import { turn } from '../../domain/awaitable.ts'
import { createHash } from 'node:crypto'
import type { Queries, VersionContent } from '../../../db/database.ts'
import { type PlatformError, refuse, tooLarge } from '../../domain/errors.ts'
import type { Quotas } from '../../domain/limits.ts'
import { bytesInWords } from '../../domain/text.ts'
import { artifactLimits } from '../../domain/version.ts'
import type { Platform } from '../platform.ts'

/** A complete upload, and its hash. */
export type ReceivedArtifact = {
  /** Null if it is stored already. */
  readonly bytes: Uint8Array | null
  readonly sizeBytes: number
  readonly sha256: Uint8Array
}

/** Takes an upload and hashes it piece by piece, since all at once would take 10 ms and more. @throws payload_too_large */
export function* receiveArtifact(bytes: Uint8Array): Generator<undefined, ReceivedArtifact & { bytes: Uint8Array }> {
  if (bytes.length > artifactLimits.bytes) throw tooLarge(artifactLimits.bytes, 'artifact.contentBase64')
  const hash = createHash('sha256')
  for (const piece of piecesOf(bytes)) {
    hash.update(piece)
    yield
  }
  return { bytes, sizeBytes: bytes.length, sha256: hash.digest() }
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += artifactLimits.chunkBytes) {
    yield bytes.subarray(at, at + artifactLimits.chunkBytes)
  }
}

/** Stores the file of an upload before the transaction that uses it. */
export type StoreArtifact = (artifact: ReceivedArtifact) => Promise<void>

/**
 * Stores an artifact once per SHA-256, one piece per transaction so that other writes do not wait for a large upload. Until a
 * version refers to it, it is unused: `keepingIfUsed` removes it, and after a crash the purge does, a day later. Storing it again
 * renews that day and repairs damaged pieces. Returns the time under which it is stored.
 */
export const storeArtifact = async (platform: Platform, artifact: ReceivedArtifact): Promise<number> => {
  const { bytes, sizeBytes, sha256 } = artifact
  const createdAt = platform.clock.now()
  await platform.database.transaction(async (q) => await q.artifacts.insert({ sha256, sizeBytes, createdAt }))
  let position = 0
  for (const data of piecesOf(bytes ?? new Uint8Array())) {
    await platform.database.transaction(async (q) => await q.artifacts.insertChunk({ sha256, position, data }))
    position += 1
  }
  return createdAt
}

/**
 * Runs work that stores a file and then the version that uses it. If it ends without such a version, whether refused or failed,
 * the file is removed, unless another upload has stored the same bytes since: then that upload decides. So what an app has
 * stored is what its versions use, and the quota bounds it.
 */
export const keepingIfUsed = async <T>(platform: Platform, work: (store: StoreArtifact) => Promise<T>): Promise<T> => {
  const stored: { sha256: Uint8Array; createdAt: number }[] = []
  try {
    return await work(async (artifact) => {
      const createdAt = await storeArtifact(platform, artifact)
      stored.push({ sha256: artifact.sha256, createdAt })
    })
  } catch (error) {
    // The purge removes what cannot be removed now. The caller learns of the first error.
    for (const { sha256, createdAt } of stored)
      await platform.database
        .transaction(async (q) => await q.artifacts.removeUnused(sha256, createdAt))
        .catch(() => {})
    throw error
  }
}

/**
 * The refusal if the app's artifacts would exceed QUOTA_ARTIFACT_BYTES. Null if they do not, or if they take no more than
 * before. An artifact counts once; that of the replaced draft (null for a new version) does not count. Must be asked in the
 * transaction that stores the version.
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

/** How much space the app's artifacts take, each counted once, and how much they may take. */
export const artifactUse = async ({ database, quotas }: Platform, appId: string) => ({
  bytes: await database.queries.versions.artifactBytes(appId),
  allowedBytes: quotas.artifactBytes,
})

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

/** A whole stored file. @throws as `openArtifact` */
export const readArtifact = async (platform: Platform, sha256: Uint8Array): Promise<Uint8Array> => {
  const artifact = await platform.database.queries.artifacts.find(sha256)
  if (artifact === null) throw refuse('version_not_found')
  return Buffer.concat(await Array.fromAsync(verifiedPieces(platform, sha256, artifact.sizeBytes)))
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
