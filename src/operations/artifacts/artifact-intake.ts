import { createHash } from 'node:crypto'
import { refuse } from '../../domain/errors.ts'
import { artifactLimits } from '../../domain/version.ts'

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
