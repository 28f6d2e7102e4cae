import type { Static } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import type { VersionUpload } from '../../operations/versions/create-version.ts'
import type { RollbackRequest } from '../../operations/versions/roll-back-version.ts'
import { base64Intake } from '../base64-intake.ts'
import type { UploadedFile } from '../upload-scanner.ts'
import { forbiddenUploadFields, type rollbackRequest, type versionUpload } from '../contract/versions.ts'

/**
 * The upload that a body asks for; its file was taken out as it arrived.
 * @throws invalid_request for broken base64
 */
export const uploadOf = (body: Static<typeof versionUpload>, file: UploadedFile | null): VersionUpload => {
  return {
    version: body.version,
    notes: body.notes ?? null,
    manifest: body.manifest ?? {},
    scopes: body.scopes ?? [],
    artifact: body.artifact === undefined ? null : artifactOf(body.artifact, file),
    movedOnBy: forbiddenUploadFields.find((field) => body[field] !== undefined),
  }
}

const artifactOf = (
  { filename, contentBase64, sha256 }: NonNullable<Static<typeof versionUpload>['artifact']>,
  file: UploadedFile | null,
) => {
  const content = file === null ? decoded(contentBase64) : file.artifact
  if (content === null) throw refuse('invalid_request', { param: 'artifact.contentBase64' })
  return { filename, content, sha256: sha256 ?? null }
}

/** Where the name of the field was spelled with escapes, the file was not recognised on its way. */
const decoded = (text: string) => {
  const intake = base64Intake()
  intake.take(Buffer.from(text))
  return intake.finish()
}

/** The body with the file's SHA-256 in the place of the file: what a repeat of the upload has to be equal to. */
export const comparableUpload = (body: Static<typeof versionUpload>, { artifact }: VersionUpload): unknown => {
  if (artifact === null) return body
  return {
    ...body,
    artifact: { ...body.artifact, contentBase64: [Buffer.from(artifact.content.sha256).toString('hex')] },
  }
}

/**
 * The rollback that a body asks for; development unless it says otherwise.
 * @throws invalid_request for two targets
 */
export const rollbackOf = (body: Static<typeof rollbackRequest>): RollbackRequest => {
  if (body.versionId !== undefined && body.version !== undefined) throw refuse('invalid_request', { param: 'version' })
  return {
    target: targetOf(body),
    environment: body.environment ?? 'development',
    reason: body.reason ?? null,
    dryRun: body.dryRun ?? false,
  }
}

const targetOf = ({ versionId, version }: Static<typeof rollbackRequest>): RollbackRequest['target'] => {
  if (versionId !== undefined) return { id: versionId }
  return version === undefined ? null : { version }
}
