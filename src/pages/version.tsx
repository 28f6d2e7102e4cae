import { refuse } from '../domain/errors.ts'
import { badInput } from '../operations/decide.ts'
import { attachment } from '../domain/download-name.ts'
import type { Call } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { ArtifactDamaged, openArtifact } from '../operations/artifacts/artifacts.ts'
import type { SeenVersion } from '../operations/versions/move-version.ts'
import type { VersionRecord } from '../operations/versions/version-record.ts'
import { streamOf } from './page.ts'
import { visibleProse } from '../domain/text.ts'
import { mayWriteAbout, reviewMessageLimits, type ReviewSide, type VersionStatus } from '../domain/version.ts'
import type { ReviewMessage } from '../operations/versions/review.ts'
import { Fields, line } from './design/field.tsx'
import { Form } from './design/form.tsx'
import { Time } from './design/values.tsx'
import { formOf } from './form.ts'
import type { Visit } from './visit.ts'

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
export const unlessDamaged = async <T,>(
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

/** The form of a question, and that of an answer. */
export const messageForms = {
  operators: formOf({
    text: line('Question', {
      rows: 3,
      maxLength: reviewMessageLimits.text,
      hint: 'All members of the app can read it. They do not learn who asked.',
    }),
  }),
  members: formOf({
    text: line('Answer', { rows: 3, maxLength: reviewMessageLimits.text, hint: 'Operators read it under your name.' }),
  }),
} as const

type ReviewMessagesProps = {
  readonly visit: Visit
  /** Who reads them. */
  readonly side: ReviewSide
  readonly status: VersionStatus
  readonly messages: readonly ReviewMessage[]
  /** Where the next one is sent; null for who may not write. */
  readonly action: string | null
}

/** What operators have asked about a version and what was answered, with the form of the next one. */
export const ReviewMessages = ({ visit, side, status, messages, action }: ReviewMessagesProps) => {
  const mayWrite = action !== null && mayWriteAbout[side].includes(status)
  if (messages.length === 0 && (side === 'members' || !mayWrite)) return null
  return (
    <section aria-labelledby="questions">
      <h2 id="questions">Questions and answers</h2>
      {messages.map(({ id, side: from, text, createdAt, authorName }) => (
        <div key={id} class="measure">
          <p class="muted">
            {from === 'operators' && side === 'members' ? (
              'An operator'
            ) : (
              <>
                <bdi>{authorName}</bdi>
                {from === 'operators' ? ', operator' : ''}
              </>
            )}
            , <Time at={createdAt} />
          </p>
          <p class="as-written" dir="auto">
            {visibleProse(text)}
          </p>
        </div>
      ))}
      {action === null || !mayWrite ? null : (
        <Form action={action} visit={visit} class="measure">
          <Fields of={messageForms[side]} />
          <button type="submit">{side === 'operators' ? 'Ask the developers' : 'Answer'}</button>
        </Form>
      )}
    </section>
  )
}
