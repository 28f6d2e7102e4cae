import type { Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { inTurns } from '../../domain/awaitable.ts'
import { refuse } from '../../domain/errors.ts'
import { receiveArtifact } from '../../operations/artifacts/artifacts.ts'
import type { VersionUpload } from '../../operations/versions/create-version.ts'
import { listVersions } from '../../operations/versions/lists.ts'
import { removeDraft, rollBackVersion, type RollbackRequest } from '../../operations/versions/move-version.ts'
import { actingAsApp } from '../../operations/acting-as.ts'
import { actorOf } from '../../operations/authenticate.ts'
import { appOf, bearer, developmentAppOf } from '../bearer.ts'
import { decodeBase64 } from '../upload-json.ts'
import * as contract from '../contract/versions.ts'
import { endpoint, jsonBody, queryOf, uploadBody } from '../endpoint.ts'
import { hold } from '../limits.ts'
import { idempotencyKeyOf, repeatableRequest } from '../idempotency-key.ts'
import { pageRequest, wireCursor, wireTime, wireVersion } from '../wire.ts'
import { contractPath, pathParametersOf } from '../paths.ts'

const path = `${contractPath}/versions`

export const listAppVersions = endpoint({
  method: 'GET',
  path,
  caller: bearer('appToken'),
  share: 'read',
  query: queryOf(contract.versionListQuery),
  answers: { 200: contract.versionList },
  errors: ['development_credentials_required'],
  details: {
    id: 'listVersions',
    summary: "List the calling app's versions",
    description: "Newest number first. Another app's versions do not exist for the caller.",
    tag: 'Versions',
  },
  run: async (door, _, { caller, query }) => {
    const asked = pageRequest('versions', query)
    const { app } = developmentAppOf(caller)
    const page = await listVersions(door.platform, app.id, query.status ?? null, asked)
    return {
      data: page.data.map(wireVersion),
      nextCursor: wireCursor('versions', page.nextCursor),
      current: page.current,
    }
  },
})

export const uploadVersion = endpoint({
  method: 'POST',
  path,
  caller: bearer('appToken'),
  share: 'write',
  body: uploadBody(contract.versionUpload),
  answers: { 200: contract.versionRecord, 201: contract.versionRecord },
  errors: [
    'development_credentials_required',
    'invalid_scope',
    'checksum_mismatch',
    'activation_not_allowed',
    'scope_not_allowed',
    'scope_not_available',
    'version_locked',
    'quota_exceeded',
    'idempotency_in_progress',
    'idempotency_key_reused',
  ],
  details: {
    id: 'createVersion',
    summary: 'Create a version, or replace a draft of the same name',
    description:
      'A new version is a draft (201) and becomes the development head. The same version again, while it is still a draft, replaces its content (200). Nothing here submits or activates.',
    tag: 'Versions',
    repeatable: true,
  },
  run: async (door, call, { caller: bearerCaller, body }) => {
    const key = idempotencyKeyOf(call)
    const upload = await uploadOf(body, call.file)
    const caller = appOf(bearerCaller)
    Value.Clean(contract.versionUpload, body) // unknown fields do not make a different request
    const comparable = comparableUpload(body, upload)
    const repeatable = repeatableRequest(call, key, caller.credentialId, comparable)
    const { createVersion } = await import('../../operations/versions/create-version.ts') // it reads archives, and few servers get many
    const { value, replayed } = await createVersion(door.platform, call, caller, upload, repeatable)
    call.status = value.created ? 201 : 200
    if (replayed) call.headers = { 'idempotent-replayed': 'true' }
    return wireVersion(value.version)
  },
})

export const deleteVersion = endpoint({
  method: 'DELETE',
  path: `${path}/:id`,
  caller: bearer('appToken'),
  share: 'write',
  answers: { 200: contract.versionRecord },
  errors: ['development_credentials_required', 'version_not_found', 'version_locked'],
  details: {
    id: 'deleteVersion',
    summary: 'Remove a draft',
    description:
      'The answer is the draft as it was. Its name is free again. If it was the development head, the newest version that is left is. A version that was submitted cannot be removed.',
    tag: 'Versions',
    parameters: [contract.draftParameter],
  },
  run: async (door, call, { caller }) => {
    const app = developmentAppOf(caller)
    const { id = '' } = pathParametersOf(call)
    const acting = actingAsApp(door.platform, call, app, async () => null)
    return wireVersion(await removeDraft(acting, call, actorOf(app), { slug: app.app.slug, id }))
  },
})

export const rollBack = endpoint({
  method: 'POST',
  path: `${path}/rollback`,
  caller: bearer('appToken'),
  share: 'write',
  body: jsonBody(contract.rollbackRequest),
  answers: { 200: contract.rollbackResponse },
  errors: [
    'development_credentials_required',
    'rollback_not_allowed',
    'version_not_found',
    'no_previous_version',
    'version_already_current',
    'version_not_eligible',
    'idempotency_in_progress',
    'idempotency_key_reused',
  ],
  details: {
    id: 'rollBackVersion',
    summary: 'Roll back to another version',
    description:
      'In development the head moves. In production a version that was live before becomes live again. Without a target: in development the next lower number, in production what was live before the current version, but no version that was rolled back.',
    tag: 'Versions',
    repeatable: true,
  },
  run: async (door, call, { caller: bearerCaller, body }) => {
    const key = idempotencyKeyOf(call)
    const asked = rollbackOf(body)
    const caller = developmentAppOf(bearerCaller)
    if (!asked.dryRun) hold(call, door.limiter.take('daily', caller.app.id))
    Value.Clean(contract.rollbackRequest, body) // unknown fields do not make a different request
    const repeatable = repeatableRequest(call, key, caller.credentialId, body)
    const { value, replayed } = await rollBackVersion(door.platform, call, caller, asked, repeatable)
    if (replayed) call.headers = { 'idempotent-replayed': 'true' }
    return {
      rollback: { ...value.rollback, createdAt: wireTime(value.rollback.createdAt) },
      version: wireVersion(value.version),
      distributionChanged: value.distributionChanged,
    }
  },
})

/**
 * The upload that a body asks for.
 * @throws invalid_request for broken base64; payload_too_large
 */
const uploadOf = async (
  body: Static<typeof contract.versionUpload>,
  file: Uint8Array | null,
): Promise<VersionUpload> => ({
  version: body.version,
  notes: body.notes ?? null,
  manifest: body.manifest ?? null,
  scopes: body.scopes ?? null,
  artifact: body.artifact === undefined ? null : await artifactOf(body.artifact, file),
  movedOnBy: contract.forbiddenUploadFields.find((field) => body[field] !== undefined),
})

const artifactOf = async (
  { filename, contentBase64, sha256 }: NonNullable<Static<typeof contract.versionUpload>['artifact']>,
  file: Uint8Array | null,
) => {
  const bytes = file ?? (await inTurns(decodeBase64(Buffer.from(contentBase64))))
  if (bytes === null)
    throw refuse('invalid_request', {
      param: 'artifact.contentBase64',
      message: 'The content is not base64 (RFC 4648 section 4).',
    })
  return { filename, content: await inTurns(receiveArtifact(bytes)), sha256: sha256 ?? null }
}

/** The body with the SHA-256 of the file instead of the file. A repeated upload must equal it. */
const comparableUpload = (body: Static<typeof contract.versionUpload>, { artifact }: VersionUpload): unknown => {
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
const rollbackOf = (body: Static<typeof contract.rollbackRequest>): RollbackRequest => {
  if (body.versionId !== undefined && body.version !== undefined)
    throw refuse('invalid_request', { param: 'version', message: 'Send versionId or version, not both.' })
  return {
    target: targetOf(body),
    environment: body.environment ?? 'development',
    reason: body.reason ?? null,
    dryRun: body.dryRun ?? false,
  }
}

const targetOf = ({ versionId, version }: Static<typeof contract.rollbackRequest>): RollbackRequest['target'] => {
  if (versionId !== undefined) return { id: versionId }
  return version === undefined ? null : { version }
}
