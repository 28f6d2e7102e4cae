import { refuse } from '../domain/errors.ts'
import { badInput } from '../operations/decide.ts'
import { attachment } from '../domain/download-name.ts'
import type { Call } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { ArtifactDamaged, openArtifact } from '../operations/artifacts/artifacts.ts'
import type { SeenVersion } from '../operations/versions/move-version.ts'
import type { VersionRecord } from '../operations/versions/version-record.ts'
import { streamOf } from './page.ts'

/**
 * The artifact of a version as a download. It is checked before the answer begins. If it turns out to be damaged while it is
 * sent, the connection is closed before the end, which clients report as a failed download. Both are logged.
 * @throws route_not_found for a version without a file, internal_error for a damaged one
 */
export const artifactDownload = async (door: Door, call: Call, version: VersionRecord): Promise<Response> => {
  if (version.artifact === null) throw refuse('route_not_found')
  const { filename, sha256 } = version.artifact
  const damaged = () => door.log.error('artifact.damaged', { requestId: call.requestId, versionId: version.id })
  const opened = await unlessDamaged(door, call, version, openArtifact(door.platform, Buffer.from(sha256, 'hex')))
  const headers = headersOf(filename, sha256, opened.sizeBytes)
  if (isKnown(call, headers.etag)) return new Response(null, { status: 304, headers: { etag: headers.etag } })
  return new Response(
    streamOf(opened.pieces, (error) => {
      if (error instanceof ArtifactDamaged) damaged()
    }),
    { headers },
  )
}

/** What is read from the file of a version. @throws internal_error for a damaged one, which is logged */
export const unlessDamaged = async <T>(
  door: Door,
  { requestId }: Call,
  { id }: Pick<VersionRecord, 'id'>,
  reading: Promise<T>,
) =>
  await reading.catch((error: unknown) => {
    if (!(error instanceof ArtifactDamaged)) throw error
    door.log.error('artifact.damaged', { requestId, versionId: id })
    throw refuse('internal_error', { message: damagedFile })
  })

/** RFC 9110 section 13.1.2. */
const isKnown = ({ request }: Call, etag: string): boolean =>
  (request.headers.get('if-none-match') ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*')

const damagedFile = 'The stored file differs from the uploaded one, so it cannot be read. Please tell the operator.'

/** An uploaded file must never act as a page of ours, however it is opened. */
const headersOf = (filename: string, sha256: string, sizeBytes: number) => ({
  'content-type': 'application/octet-stream',
  'content-disposition': attachment(filename),
  'content-length': String(sizeBytes), // Bun omits it for a stream, which it sends in chunks (oven-sh/bun#10507)
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  etag: `"${sha256}"`,
  'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`, // RFC 9530
  'accept-ranges': 'none',
})

/** The state of a version that a decision is bound to, in one hidden field. It is not secret: the operation checks it again. */
export const seenField = ({ id, revision, submittedAt, liveId }: SeenVersion): string =>
  [id, revision, submittedAt ?? '-', liveId ?? '-'].join(' ')

/** Why a hidden field is refused. */
export const notOurForm = 'This hidden field was changed: open the page again.'

/** @throws invalid_request for a field that no page of ours has */
export const readSeen = (field: string): SeenVersion => {
  const [, id, revision, submittedAt, liveId] =
    /^(ver_[0-9a-f]{32}) (\d{1,15}) (\d{1,15}|-) (ver_[0-9a-f]{32}|-)$/.exec(field) ?? []
  if (id === undefined) throw badInput('seen', notOurForm)
  return {
    id,
    revision: Number(revision),
    submittedAt: submittedAt === '-' ? null : Number(submittedAt),
    liveId: liveId === '-' || liveId === undefined ? null : liveId,
  }
}
