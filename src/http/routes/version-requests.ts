import type { Static } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import type { VersionUpload } from '../../operations/versions/create-version.ts'
import type { RollbackRequest } from '../../operations/versions/roll-back-version.ts'
import { forbiddenUploadFields, type rollbackRequest, type versionUpload } from '../contract/versions.ts'

/**
 * The upload that a body asks for.
 * @throws invalid_request for broken base64
 */
export const uploadOf = (body: Static<typeof versionUpload>): VersionUpload => {
  const artifact = body.artifact === undefined ? null : artifactOf(body.artifact)
  return {
    version: body.version,
    notes: body.notes ?? null,
    manifest: body.manifest ?? {},
    scopes: body.scopes ?? [],
    artifact,
    movedOnBy: forbiddenUploadFields.find((field) => body[field] !== undefined),
  }
}

const artifactOf = (artifact: NonNullable<Static<typeof versionUpload>['artifact']>) => {
  const bytes = Buffer.from(artifact.contentBase64, 'base64')
  const isCanonical = artifact.contentBase64.length % 4 === 0 && bytes.toString('base64') === artifact.contentBase64
  if (!isCanonical) throw refuse('invalid_request', { param: 'artifact.contentBase64' })
  return { filename: artifact.filename, bytes, sha256: artifact.sha256 ?? null }
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
