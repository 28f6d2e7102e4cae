import { refuse } from '../domain/errors.ts'
import { attachment } from '../http/attachment.ts'
import type { Door } from '../http/door.ts'
import { callOf } from '../http/call.ts'
import { ArtifactDamaged, openArtifact } from '../operations/artifacts/open-artifact.ts'
import type { SeenVersion } from '../operations/versions/move-version.ts'
import type { VersionRecord } from '../operations/versions/version-record.ts'

/**
 * The file of a version, to be saved. It has been found whole when the answer begins; should it be damaged on its way out, the
 * connection breaks off before its end, which no client takes for a whole file. Both are logged.
 * @throws route_not_found for a version without a file, internal_error for a damaged one
 */
export const artifactDownload = async (door: Door, request: Request, version: VersionRecord): Promise<Response> => {
  if (version.artifact === null) throw refuse('route_not_found')
  const { filename, sha256 } = version.artifact
  const damaged = () =>
    door.log.error('artifact.damaged', { requestId: callOf(request).requestId, versionId: version.id })
  const opened = await openArtifact(door.platform, Buffer.from(sha256, 'hex')).catch((error: unknown) => {
    if (!(error instanceof ArtifactDamaged)) throw error
    damaged()
    throw refuse('internal_error', { message: damagedFile })
  })
  const headers = headersOf(filename, sha256, opened.sizeBytes)
  if (isKnown(request, headers.etag)) return new Response(null, { status: 304, headers: { etag: headers.etag } })
  return new Response(streamOf(opened.pieces, damaged), { headers })
}

/** RFC 9110 section 13.1.2. */
const isKnown = (request: Request, etag: string): boolean =>
  (request.headers.get('if-none-match') ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*')

const damagedFile = 'The stored file is no longer what was uploaded, so it is not handed out. The operator should know.'

/** Nothing in a file that somebody uploaded may ever act as a page of ours, however it is opened. */
const headersOf = (filename: string, sha256: string, sizeBytes: number) => ({
  'content-type': 'application/octet-stream',
  'content-disposition': attachment(filename),
  'content-length': String(sizeBytes), // Bun leaves it out beside a stream, which it sends in chunks (oven-sh/bun#10507)
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  etag: `"${sha256}"`,
  'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`, // RFC 9530
  'accept-ranges': 'none',
})

/** A piece is read when the connection has room for it. */
const streamOf = (pieces: AsyncGenerator<Uint8Array>, damaged: () => void): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { value, done } = await pieces.next()
          if (done === true) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          if (error instanceof ArtifactDamaged) damaged()
          controller.error(error) // breaks the connection off
        }
      },
      cancel: async () => void (await pieces.return(undefined)),
    },
    { highWaterMark: 0 },
  )

/** What a decision is bound to, in one hidden field. Nothing in it is secret: the store is asked whether it still holds. */
export const seenField = ({ id, revision, submittedAt, liveId }: SeenVersion): string =>
  [id, revision, submittedAt ?? '', liveId ?? ''].join(' ')

/** @throws invalid_request for a field that no page of ours has */
export const readSeen = (field: string): SeenVersion => {
  const [, id, revision, submittedAt, liveId] =
    /^(ver_[0-9a-f]{32}) (\d{1,15}) (\d{0,15}) ((?:ver_[0-9a-f]{32})?)$/.exec(field) ?? []
  if (id === undefined) throw refuse('invalid_request', { param: 'seen' })
  return {
    id,
    revision: Number(revision),
    submittedAt: submittedAt === '' ? null : Number(submittedAt),
    liveId: liveId === '' || liveId === undefined ? null : liveId,
  }
}
