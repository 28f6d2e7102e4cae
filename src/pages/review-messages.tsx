import { visibleProse } from '../domain/text.ts'
import { mayWriteAbout, reviewMessageLimits, type ReviewSide, type VersionStatus } from '../domain/version.ts'
import type { ReviewMessage } from '../operations/versions/review.ts'
import { Fields, line } from './design/field.tsx'
import { Form } from './design/form.tsx'
import { Time } from './design/values.tsx'
import { formOf } from './form.ts'
import type { Visit } from './visit.ts'

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
