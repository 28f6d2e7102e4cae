import { artifactIntake, type ReceivedArtifact } from '../../src/operations/artifacts/store-artifact.ts'

/** A file as the platform has it once it has arrived, from one that is in memory. */
export const receivedArtifact = (bytes: Uint8Array): ReceivedArtifact => {
  const intake = artifactIntake()
  intake.take(bytes)
  return intake.finish()
}
