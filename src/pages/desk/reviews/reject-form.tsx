import type { PlatformError } from '../../../domain/errors.ts'
import type { Review } from '../../../operations/versions/read-review.ts'
import { Field, Form } from '../../components/form.tsx'
import { seenField } from '../../version.ts'
import type { Visit } from '../../visit.ts'
import { reviewPath } from '../paths.ts'
import type { RejectionDraft } from './rejection-draft.ts'

type RejectFormProps = {
  readonly visit: Visit
  readonly review: Review
  readonly draft: RejectionDraft
  readonly error: PlatformError | null
}

/** Why it is rejected: a message, and what to mend where. The way to more rows needs no script and decides nothing. */
export const RejectForm = ({ visit, review, draft, error }: RejectFormProps) => (
  <section aria-labelledby="reject" class="reject">
    <h3 id="reject">Reject</h3>
    <p>
      It is rejected for good: what the developer mends comes under a new version. They read the message and every item.
    </p>
    <Form action={reviewPath(review.app.slug, review.version.version, 'reject')} visit={visit}>
      <input type="hidden" name="seen" value={seenField(review.seen)} />
      <Field label="Message" name="message" rows={3} error={error} input={{ value: draft.message, maxLength: 2000 }} />
      <fieldset aria-describedby={isAboutItems(error) ? 'items-fault' : 'items-hint'}>
        <legend>What to mend</legend>
        <small id="items-hint">
          Optional: the place, such as <code>manifest.name</code>, and what is wrong there. Empty rows are left out.
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
        {/* The first button of the form is the one that Enter presses. */}
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
