import type { ComponentChildren } from 'preact'
import type { Review } from '../../operations/versions/read-review.ts'
import { Form } from '../design/field.tsx'
import { seenField } from '../version.ts'
import type { Visit } from '../visit.ts'
import { reviewPath } from './desk-page.tsx'

type DecisionsProps = {
  readonly visit: Visit
  readonly review: Review
}

/** The decisions that are possible now. Every form is bound to the version that this page shows. */
export const Decisions = ({ visit, review }: DecisionsProps) => {
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
          <p>
            <a
              class="button outline secondary"
              href={`${reviewPath(review.app.slug, review.version.version, 'reject')}?${new URLSearchParams({ seen: seenField(review.seen) }).toString()}`}
            >
              Reject this version
            </a>
          </p>
        </>
      )}
    </section>
  )
}

const supersedes = ({ live }: Review): string =>
  live === null ? 'Nothing is live now.' : `Version ${live.version}, which is live now, is superseded.`

type StepProps = DecisionsProps & {
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
