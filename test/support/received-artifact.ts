import { artifactIntake, type ReceivedArtifact } from '../../src/operations/artifacts/artifacts.ts'

/** A file in memory as the platform receives it. */
export const receivedArtifact = (bytes: Uint8Array): ReceivedArtifact => {
  const intake = artifactIntake()
  intake.take(bytes)
  return intake.finish()
}
