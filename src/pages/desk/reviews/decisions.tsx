import type { ComponentChildren } from 'preact'
import type { PlatformError } from '../../../domain/errors.ts'
import type { Review } from '../../../operations/versions/read-review.ts'
import { Form } from '../../components/form.tsx'
import { seenField } from '../../version.ts'
import type { Visit } from '../../visit.ts'
import { reviewPath } from '../paths.ts'
import { RejectForm } from './reject-form.tsx'
import type { RejectionDraft } from './rejection-draft.ts'

type DecisionsProps = {
  readonly visit: Visit
  readonly review: Review
  /** What was typed before and why it was refused. */
  readonly draft: RejectionDraft
  readonly error: PlatformError | null
}

/** What can be decided now; every form is bound to what this page shows. */
export const Decisions = ({ visit, review, draft, error }: DecisionsProps) => {
  switch (review.version.status) {
    case 'submitted':
      return (
        <section aria-labelledby="decision">
          <h2 id="decision">Your decision</h2>
          <div class="cards">
            <Step visit={visit} review={review} step="approve" title="Approve" button="Approve">
              It passes the review and stays as it is. It goes live when an operator makes it live.
            </Step>
            <Step
              visit={visit}
              review={review}
              step="publish"
              title="Approve and make live"
              button="Approve and make live"
            >
              It passes the review and is what users get at once. {supersedes(review)}
            </Step>
          </div>
          <RejectForm visit={visit} review={review} draft={draft} error={error} />
        </section>
      )
    case 'approved':
      return (
        <section aria-labelledby="decision">
          <h2 id="decision">Your decision</h2>
          <div class="cards">
            <Step visit={visit} review={review} step="activate" title="Make it live" button="Make it live">
              It is what users get at once. {supersedes(review)}
            </Step>
          </div>
        </section>
      )
    case 'draft':
    case 'active':
    case 'superseded':
    case 'rejected':
      return null
    default:
      return review.version.status satisfies never
  }
}

const supersedes = ({ live }: Review): string =>
  live === null ? 'Nothing is live now.' : `Version ${live.version}, which is live now, is superseded.`

type StepProps = Pick<DecisionsProps, 'visit' | 'review'> & {
  readonly step: 'approve' | 'publish' | 'activate'
  readonly title: string
  readonly button: string
  readonly children: ComponentChildren
}

const Step = ({ visit, review, step, title, button, children }: StepProps) => (
  <article>
    <h3>{title}</h3>
    <p>{children}</p>
    <Form action={reviewPath(review.app.slug, review.version.version, step)} visit={visit}>
      <input type="hidden" name="seen" value={seenField(review.seen)} />
      <button type="submit">{button}</button>
    </Form>
  </article>
)
