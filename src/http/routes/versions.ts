import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { AppCaller } from '../../operations/authenticate.ts'
import { createVersion } from '../../operations/versions/create-version.ts'
import { listVersions } from '../../operations/versions/lists.ts'
import { rollBackVersion } from '../../operations/versions/roll-back-version.ts'
import { appOf, type BearerCaller, requireCaller } from '../bearer.ts'
import { copyForElysia } from '../contract/copy-for-elysia.ts'
import { bodyErrors, errorResponses } from '../contract/errors.ts'
import {
  rollbackRequest,
  rollbackResponse,
  versionList,
  versionListQuery,
  versionRecord,
  versionUpload,
} from '../contract/versions.ts'
import { ownerOf } from '../../operations/apps/app-record.ts'
import type { Door } from '../door.ts'
import { idempotencyKeyOf, repeatableRequest } from '../idempotency-key.ts'
import { jsonBody } from '../json-body.ts'
import { pageRequest, refuseRepeated, wireCursor } from '../page-request.ts'
import { callOf } from '../call.ts'
import { wireTime, wireVersion } from '../wire.ts'
import { operationDetails } from './operation-details.ts'
import { contractPath } from './paths.ts'
import { uploadBody } from '../upload-body.ts'
import { comparableUpload, rollbackOf, uploadOf } from './version-requests.ts'

const path = `${contractPath}/versions`
const callerErrors = [
  'invalid_token',
  'token_type_not_allowed',
  'origin_not_allowed', // of an embedded session, whose kind is only told to its own page
  'development_credentials_required',
] as const

/** Versions are for development credentials only; scopes play no part (contract section 3). */
const developmentOf = (bearer: BearerCaller): AppCaller => {
  const caller = appOf(bearer)
  if (caller.environment !== 'development') throw refuse('development_credentials_required')
  return caller
}

export const versionRoutes = (door: Door) => new Elysia().use(list(door)).use(create(door)).use(rollBack(door))

const list = (door: Door) =>
  new Elysia()
    .derive(async ({ request }) => ({ bearer: await requireCaller(door, callOf(request), 'read') }))
    .get(
      path,
      async ({ bearer, query, request }) => {
        refuseRepeated(request, Object.keys(query))
        const asked = pageRequest('versions', query)
        const { app } = developmentOf(bearer)
        const page = await listVersions(door.platform, app.id, query.status ?? null, asked)
        return {
          data: page.data.map(wireVersion),
          nextCursor: wireCursor('versions', page.nextCursor),
          current: page.current,
        }
      },
      {
        query: copyForElysia(versionListQuery),
        response: { 200: copyForElysia(versionList), ...errorResponses(...callerErrors) },
        detail: operationDetails({
          id: 'listVersions',
          summary: "List the calling app's versions",
          description: "Newest number first. Another app's versions do not exist for the caller.",
          tag: 'Versions',
          callers: ['appToken'],
        }),
      },
    )

const create = (door: Door) =>
  new Elysia()
    .derive(async ({ request }) => ({ bearer: await requireCaller(door, callOf(request), 'write') }))
    .use(uploadBody(versionUpload, async (appId) => await ownerOf(door.platform, appId)))
    .post(
      path,
      async ({ bearer, body, request, set, status }) => {
        const key = idempotencyKeyOf(request)
        const upload = uploadOf(body, callOf(request).file)
        const caller = appOf(bearer)
        const repeatable = repeatableRequest(request, key, caller.credentialId, path, comparableUpload(body, upload))
        const trace = callOf(request)
        const { value, replayed } = await createVersion(door.platform, trace, caller, upload, repeatable)
        if (replayed) set.headers['idempotent-replayed'] = 'true'
        return value.created ? status(201, wireVersion(value.version)) : status(200, wireVersion(value.version))
      },
      {
        body: copyForElysia(versionUpload),
        response: {
          200: copyForElysia(versionRecord),
          201: copyForElysia(versionRecord),
          ...errorResponses(
            ...bodyErrors,
            ...callerErrors,
            'invalid_scope',
            'checksum_mismatch',
            'activation_not_allowed',
            'scope_not_allowed',
            'scope_not_available',
            'version_locked',
            'quota_exceeded',
            'idempotency_in_progress',
            'idempotency_key_reused',
          ),
        },
        detail: operationDetails({
          id: 'createVersion',
          summary: 'Create a version, or replace a draft of the same name',
          description:
            'A new version is a draft (201) and becomes the development head. The same version again, while it is still a draft, replaces its content (200). Nothing here submits or activates.',
          tag: 'Versions',
          callers: ['appToken'],
          repeatable: true,
        }),
      },
    )

const rollBack = (door: Door) =>
  new Elysia()
    .derive(async ({ request }) => ({ bearer: await requireCaller(door, callOf(request), 'write') }))
    .use(jsonBody(rollbackRequest))
    .post(
      `${path}/rollback`,
      async ({ bearer, body, request, set }) => {
        const key = idempotencyKeyOf(request)
        const asked = rollbackOf(body)
        const caller = developmentOf(bearer)
        const repeatable = repeatableRequest(request, key, caller.credentialId, `${path}/rollback`, body)
        const trace = callOf(request)
        const { value, replayed } = await rollBackVersion(door.platform, trace, caller, asked, repeatable)
        if (replayed) set.headers['idempotent-replayed'] = 'true'
        return {
          rollback: { ...value.rollback, createdAt: wireTime(value.rollback.createdAt) },
          version: wireVersion(value.version),
          distributionChanged: value.distributionChanged,
        }
      },
      {
        body: copyForElysia(rollbackRequest),
        response: {
          200: copyForElysia(rollbackResponse),
          ...errorResponses(
            ...bodyErrors,
            ...callerErrors,
            'version_not_found',
            'no_previous_version',
            'version_already_current',
            'version_not_eligible',
            'idempotency_in_progress',
            'idempotency_key_reused',
          ),
        },
        detail: operationDetails({
          id: 'rollBackVersion',
          summary: 'Roll back to another version',
          description:
            'In development the head moves. In production a version that was live before becomes live again. Without a target: the version before the current one.',
          tag: 'Versions',
          callers: ['appToken'],
          repeatable: true,
        }),
      },
    )
