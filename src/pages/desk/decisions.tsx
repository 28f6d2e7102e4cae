import type { ComponentChildren } from 'preact'
import type { PlatformError } from '../../domain/errors.ts'
import { badInput } from '../../operations/decide.ts'
import { moveVersion } from '../../operations/versions/move-version.ts'
import { nextInQueue, readReview, type Review } from '../../operations/versions/lists.ts'
import type { RejectionItem } from '../../operations/versions/version-record.ts'
import { Field } from '../design/field.tsx'
import { ButtonForm } from '../design/form.tsx'
import { Row } from '../design/row-list.tsx'
import { ChosenName } from '../design/values.tsx'
import { formOf, valuesIn, optionalText, outcomeOf, text, textOf, texts, typedIn } from '../form.ts'
import { seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { StepButton, stepsOf } from '../step.tsx'
import { readSeen, seenField } from '../version.tsx'
import type { Values } from '../kept-form.ts'
import type { Visit } from '../visit.ts'
import { deskArea, notAsShown, reviewPath, statusNow } from './desk-page.tsx'

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
      <ul class="row-list">
        {status === 'approved' ? (
          <Step visit={visit} review={review} step="activate" title="Make it live">
            Users get this version at once. {supersedes(review)}
          </Step>
        ) : (
          <>
            <Step visit={visit} review={review} step="approve" title="Approve">
              The version passes the review. It goes live later, when an operator makes it live.
            </Step>
            <Step visit={visit} review={review} step="publish" title="Approve and make live">
              The version passes the review, and users get it at once. {supersedes(review)}
            </Step>
            <Row
              title="Reject"
              facts={['The developer reads your reasons and uploads a corrected version. Rejecting is final.']}
              actions={
                <StepButton
                  visit={visit}
                  step={rejection}
                  of={review}
                  params={{ slug: review.app.slug, version: review.version.version }}
                  query={{ seen: seenField(review.seen) }}
                />
              }
            />
          </>
        )}
      </ul>
    </section>
  )
}

const supersedes = ({ live }: Review): string =>
  live === null ? 'Nothing is live now.' : `It replaces ${live.version}, which is live now.`

type StepProps = DecisionsProps & {
  readonly step: 'approve' | 'publish' | 'activate'
  /** The name of the decision, and the button. */
  readonly title: string
  readonly children: ComponentChildren
}

const Step = ({ visit, review, step, title, children }: StepProps) => (
  <Row
    title={title}
    facts={[children]}
    actions={
      <ButtonForm
        action={reviewPath(review.app.slug, review.version.version, step)}
        visit={visit}
        hidden={{ seen: seenField(review.seen) }}
        asks={proveFirst(visit)}
      >
        {title}
      </ButtonForm>
    }
  />
)

type Decided = { readonly slug: string; readonly version: string }

/** Leads to the version that waits next behind the decided one, which is named there; without one, to the page of the decided one. */
export const afterDecision = async (
  { door: { platform } }: Visit,
  { slug, version }: Decided,
  step: 'approve' | 'publish' | 'activate' | 'reject',
  done: string,
): Promise<Response> => {
  const { app, version: decided } = await readReview(platform, slug, version)
  const [queue, since] =
    step === 'activate' ? (['activation', decided.reviewedAt] as const) : (['review', decided.submittedAt] as const)
  const next = await nextInQueue(platform, queue, { since: since ?? 0, id: decided.id })
  return seeOther(
    next === null
      ? `${reviewPath(slug, version)}?done=${done}`
      : `${reviewPath(next.slug, next.version)}?${new URLSearchParams({ done, after: `${app.name} ${version}` }).toString()}`,
  )
}

const rejectionForm = formOf({ seen: text, message: text, path: texts, reason: texts, intent: optionalText })

/** A version is rejected with a message and reasons. "More rows" shows the form again, with what was typed. */
export const rejection = stepsOf({
  area: deskArea,
  root: '/desk/reviews/:slug/:version',
  find: async ({ door }, { slug, version }) => await readReview(door.platform, slug, version),
  belongsTo: ({ app }) => app.name,
  back: ({ slug, version }) => ({ href: reviewPath(slug, version), name: `Version ${version}` }),
})('reject', {
  link: ['Reject this version'],
  unless: ({ version: { status } }) => (status === 'submitted' ? null : statusNow[status]),
  effect: 'takes away',
  form: rejectionForm,
  ask: (visit, { app, version, seen }, _, given) => {
    const sent = typedIn(visit)
    // The version that the operator has looked at, which the page of the review names.
    const shown = sent === null ? given('seen') : ''
    return {
      title: `Reject version ${version.version}?`,
      says: (
        <p>
          Rejecting is final. The developer of <ChosenName name={app.name} /> reads the message and every item, and
          submits corrections as a new version.
        </p>
      ),
      button: 'Reject this version',
      fields: (
        <RejectionFields
          draft={sent === null ? emptyDraft : shownAgain(sent)}
          seen={shown === '' ? seenField(seen) : shown}
          error={visit.refused?.error ?? null}
        />
      ),
    }
  },
  act: async ({ visit, fields }, review, { slug, version }) => {
    const { seen, message, path, reason, intent } = fields
    const { status } = review.version
    if (status !== 'submitted' || seen !== seenField(review.seen)) throw notAsShown(status)
    if (intent === 'rows') return 'again'
    const draft = draftFrom(message, path, reason)
    const fault = draftFault(draft)
    if (fault !== null) throw fault
    const given = { message, items: itemsOf(draft) }
    const move = { slug, version, step: 'reject', rejection: given, seen: readSeen(seen) } as const
    const moved = await outcomeOf(visit.asOperator().do(moveVersion, move))
    // Somebody else has decided since the check above.
    if (moved.kind === 'refused' && moved.error.code === 'version_not_eligible') {
      throw notAsShown((await readReview(visit.door.platform, slug, version)).version.status)
    }
    if (moved.kind === 'refused') throw moved.error
    return await afterDecision(visit, { slug, version }, 'reject', 'rejected')
  },
  done: { rejected: 'The version is rejected. Its developer can read the reasons.' },
})

type RejectionFieldsProps = {
  readonly draft: RejectionDraft
  readonly seen: string
  readonly error: PlatformError | null
}

/** The message and the reasons of a rejection. The button for more rows needs no script and decides nothing. */
const RejectionFields = ({ draft, seen, error }: RejectionFieldsProps) => (
  <>
    <input type="hidden" name="seen" value={seen} />
    <Field label="Message" name="message" rows={3} input={{ value: draft.message, maxLength: 2000 }} />
    <fieldset aria-describedby={isAboutItems(error) ? 'items-fault' : 'items-hint'}>
      <legend>What to correct</legend>
      <small id="items-hint">
        Optional: the place, such as <code>manifest.name</code>, and what is wrong there. Empty rows are ignored.
      </small>
      {isAboutItems(error) ? (
        <p id="items-fault" class="fault" role="alert">
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
            autofocus={(index === 0 && isAboutItems(error)) || undefined}
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
      <button type="submit" name="intent" value="rows" class="small">
        More rows
      </button>
    </fieldset>
  </>
)

const isAboutItems = (error: PlatformError | null): boolean => error?.facts.param === 'items'

/** A rejection while it is being written. Rows may be empty. */
type RejectionDraft = { readonly message: string; readonly rows: readonly RejectionItem[] }

const rowsAtOnce = 3
const mostRows = 100
const emptyRows = (count: number): readonly RejectionItem[] =>
  Array.from({ length: count }, () => ({ path: '', message: '' }))

const emptyDraft: RejectionDraft = { message: '', rows: emptyRows(rowsAtOnce) }

const shownAgain = ({ message, path, reason, intent }: Values): RejectionDraft => {
  const draft = draftFrom(textOf(message), valuesIn(path), valuesIn(reason))
  return intent === 'rows' ? withMoreRows(draft) : draft
}

/** What was typed, row by row. The form sends as many reasons as paths. */
const draftFrom = (message: string, paths: readonly string[], reasons: readonly string[]): RejectionDraft => ({
  message,
  rows: paths.slice(0, mostRows).map((path, index) => ({ path, message: reasons[index] ?? '' })),
})

const withMoreRows = ({ message, rows }: RejectionDraft): RejectionDraft => ({
  message,
  rows: [...rows, ...emptyRows(Math.min(rowsAtOnce, mostRows - rows.length))],
})

/** The rows that are not empty. */
const itemsOf = ({ rows }: RejectionDraft): readonly RejectionItem[] =>
  rows.filter(({ path, message }) => path !== '' || message !== '')

/** The refusal of a draft with a half-filled row; null for any other draft. */
const draftFault = (draft: RejectionDraft): PlatformError | null =>
  itemsOf(draft).some(({ path, message }) => path === '' || message === '')
    ? badInput('items', 'Every item needs a place and what is wrong there.')
    : null
