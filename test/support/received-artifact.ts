import { atOnce } from '../../src/domain/awaitable.ts'
import { receiveArtifact } from '../../src/operations/artifacts/artifacts.ts'

/** A file in memory as the platform receives it. */
export const receivedArtifact = (bytes: Uint8Array) => atOnce(receiveArtifact(bytes))
