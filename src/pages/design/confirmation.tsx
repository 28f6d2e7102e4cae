import type { ComponentChildren } from 'preact'
import type { Reached } from '../../operations/reach.ts'
import { Field } from './field.tsx'
import { Form, LinkButton, SendOrCancel } from './form.tsx'
import { type AreaNavigation, Layout } from './shell.tsx'
import type { Visit } from '../visit.ts'

/** How many of something will end or change. Of none it says "No" and the singular: "No app token stops working". */
export type Affected = readonly [count: number | Reached, one: string, many: string]

type ConfirmationPageProps = {
  readonly visit: Visit
  readonly section: 'account' | 'apps' | 'console' | 'desk'
  /** The pages of the area. */
  readonly nav: AreaNavigation
  /** The question, such as `Revoke this secret?` */
  readonly title: string
  /** The app or the area that the page belongs to. */
  readonly belongsTo?: string
  /** What will happen. */
  readonly says: ComponentChildren
  readonly counts?: readonly Affected[]
  /** The name that must be typed, for what is gravest. */
  readonly typeName?: string | null
  /** Further fields of the form. */
  readonly fields?: ComponentChildren
  /** Without it the page has no form: it says why it cannot be done. */
  readonly button?: string
  /** `harmless` if nothing ends and the step can be undone: the button is not red. */
  readonly tone?: 'ending' | 'harmless'
  /** The page that the person came from; without a name it is that of what the page belongs to. */
  readonly back: { readonly href: string; readonly name?: string | undefined }
  /** The address of this page, which also takes the form. */
  readonly action?: string
}

/** Asks before something ends or is handed over. Only this page has a red button. */
export const ConfirmationPage = ({
  counts = [],
  tone = 'ending',
  typeName = null,
  button,
  action = '',
  ...question
}: ConfirmationPageProps) => (
  <Layout
    title={question.title}
    belongsTo={question.belongsTo ?? question.title}
    visit={question.visit}
    section={question.section}
    nav={question.nav}
    width="narrow"
    crumbs={[{ href: question.back.href, name: question.back.name ?? question.belongsTo ?? 'Back' }]}
  >
    <div class="confirmation">
      {question.says}
      {counts.length === 0 ? null : (
        <ul class="reach" aria-label="What this affects">
          {counts.map((affected) => (
            <li key={affected[1]}>
              <AffectedCount affected={affected} />
            </li>
          ))}
        </ul>
      )}
    </div>
    {button === undefined ? (
      <LinkButton href={question.back.href}>Go back</LinkButton>
    ) : (
      <Form action={action} visit={question.visit}>
        <input type="hidden" name="from" value={question.back.href} />
        {question.fields}
        {typeName === null ? null : (
          <Field
            label={
              <>
                To confirm, type <strong class="whole">{typeName}</strong>
              </>
            }
            name="typed"
            input={{ required: true, autocomplete: 'off', spellcheck: false }}
          />
        )}
        <SendOrCancel button={button} back={question.back.href} isRed={tone === 'ending'} />
      </Form>
    )}
  </Layout>
)

const AffectedCount = ({ affected: [count, one, many] }: { readonly affected: Affected }) => {
  const { count: number, exact } = typeof count === 'number' ? { count, exact: true } : count
  if (number === 0) return <>{`No ${one}`}</>
  return (
    <>
      {exact ? '' : 'At least '}
      <strong>{number.toLocaleString('en')}</strong> {number === 1 ? one : many}
    </>
  )
}
