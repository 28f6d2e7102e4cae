import type { ComponentChildren } from 'preact'
import type { PlatformError } from '../../domain/errors.ts'
import { badInput } from '../../operations/decision.ts'
import type { Review } from '../../operations/versions/read-review.ts'
import type { RejectionItem } from '../../operations/versions/version-record.ts'
import { Field, Form } from '../design/field.tsx'
import { seenField } from '../version.ts'
import type { Visit } from '../visit.ts'
import { reviewPath } from './desk-page.tsx'

type DecisionsProps = {
  readonly visit: Visit
  readonly review: Review
  /** What was typed before, and why it was refused. */
  readonly draft: RejectionDraft
  readonly error: PlatformError | null
}

/** The decisions that are possible now. Every form is bound to the version that this page shows. */
export const Decisions = ({ visit, review, draft, error }: DecisionsProps) => {
  const { status } = review.version
  if (status !== 'submitted' && status !== 'approved') return null
  return (
    <section aria-labelledby="decision">
      <h2 id="decision">Your decision</h2>
      {status === 'approved' ? (
        <div class="cards">
          <Step visit={visit} review={review} step="activate" title="Make it live">
            Users get this version at once. {supersedes(review)}
          </Step>
        </div>
      ) : (
        <>
          <div class="cards">
            <Step visit={visit} review={review} step="approve" title="Approve">
              The version passes the review and stays as it is. It goes live when an operator makes it live.
            </Step>
            <Step visit={visit} review={review} step="publish" title="Approve and make live">
              The version passes the review, and users get it at once. {supersedes(review)}
            </Step>
          </div>
          <RejectForm visit={visit} review={review} draft={draft} error={error} />
        </>
      )}
    </section>
  )
}

const supersedes = ({ live }: Review): string =>
  live === null ? 'Nothing is live now.' : `Version ${live.version}, which is live now, is superseded.`

type StepProps = Pick<DecisionsProps, 'visit' | 'review'> & {
  readonly step: 'approve' | 'publish' | 'activate'
  /** The heading, and the button. */
  readonly title: string
  readonly children: ComponentChildren
}

const Step = ({ visit, review, step, title, children }: StepProps) => (
  <article>
    <h3>{title}</h3>
    <p>{children}</p>
    <Form action={reviewPath(review.app.slug, review.version.version, step)} visit={visit}>
      <input type="hidden" name="seen" value={seenField(review.seen)} />
      <button type="submit">{title}</button>
    </Form>
  </article>
)

/** The message and the reasons of a rejection. The button for more rows needs no script and decides nothing. */
const RejectForm = ({ visit, review, draft, error }: DecisionsProps) => (
  <section aria-labelledby="reject" class="reject">
    <h3 id="reject">Reject</h3>
    <p>Rejecting is final. The developer reads the message and every item, and submits corrections as a new version.</p>
    <Form action={reviewPath(review.app.slug, review.version.version, 'reject')} visit={visit}>
      <input type="hidden" name="seen" value={seenField(review.seen)} />
      <Field label="Message" name="message" rows={3} error={error} input={{ value: draft.message, maxLength: 2000 }} />
      <fieldset aria-describedby={isAboutItems(error) ? 'items-fault' : 'items-hint'}>
        <legend>What to correct</legend>
        <small id="items-hint">
          Optional: the place, such as <code>manifest.name</code>, and what is wrong there. Empty rows are ignored.
        </small>
        {isAboutItems(error) ? (
          <p id="items-fault" class="fault">
            {error?.message}
          </p>
        ) : null}
        {draft.rows.map(({ path, message }, index) => (
          <div class="beside item" key={index}>
            <input
              type="text"
              name="path"
              aria-label={`Place ${index + 1}`}
              placeholder="Place"
              value={path}
              maxLength={2000}
            />
            <input
              type="text"
              name="reason"
              aria-label={`What is wrong at place ${index + 1}`}
              placeholder="What is wrong there"
              value={message}
              maxLength={2000}
            />
          </div>
        ))}
        {/* First in the form, because Enter presses the first button. */}
        <button type="submit" name="intent" value="rows" class="outline secondary small">
          More rows
        </button>
      </fieldset>
      <button type="submit" name="intent" value="reject" class="danger">
        Reject this version
      </button>
    </Form>
  </section>
)

const isAboutItems = (error: PlatformError | null): boolean => error?.facts.param === 'items'

/** A rejection while it is being written. Rows may be empty. */
export type RejectionDraft = { readonly message: string; readonly rows: readonly RejectionItem[] }

const rowsAtOnce = 3
const mostRows = 100
const emptyRows = (count: number): readonly RejectionItem[] =>
  Array.from({ length: count }, () => ({ path: '', message: '' }))

export const emptyDraft: RejectionDraft = { message: '', rows: emptyRows(rowsAtOnce) }

/** What was typed, row by row. The form sends as many reasons as paths. */
export const draftFrom = (message: string, paths: readonly string[], reasons: readonly string[]): RejectionDraft => ({
  message,
  rows: paths.slice(0, mostRows).map((path, index) => ({ path, message: reasons[index] ?? '' })),
})

export const withMoreRows = ({ message, rows }: RejectionDraft): RejectionDraft => ({
  message,
  rows: [...rows, ...emptyRows(Math.min(rowsAtOnce, mostRows - rows.length))],
})

/** The rows that are not empty. */
export const itemsOf = ({ rows }: RejectionDraft): readonly RejectionItem[] =>
  rows
    .map(({ path, message }) => ({ path: path.trim(), message: message.trim() }))
    .filter(({ path, message }) => path !== '' || message !== '')

/** The refusal of a draft with a half-filled row; null for any other draft. */
export const draftFault = (draft: RejectionDraft): PlatformError | null =>
  itemsOf(draft).some(({ path, message }) => path === '' || message === '')
    ? badInput('items', 'Every item needs a place and what is wrong there.')
    : null
