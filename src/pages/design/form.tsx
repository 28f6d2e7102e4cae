import type { ComponentChildren } from 'preact'
import { ownFormFields } from '../../domain/form-ticket.ts'
import { FormState, type KeptForm, type RefusedForm } from '../kept-form.ts'
import type { TicketBook } from '../visit.ts'

/** What a form takes from the page it stands on. */
export type FormVisit = {
  readonly tickets: TicketBook
  readonly kept?: readonly KeptForm[]
  readonly refused?: RefusedForm
}

/** Hidden fields that say where a form leads. They do not tell apart forms. */
const places: ReadonlySet<string> = new Set(['back', 'return_to'])

type FormProps = {
  /** For fields that are elsewhere on the page, among other forms. */
  readonly id?: string
  /** The path that the form is sent to; its ticket is valid for this path only. */
  readonly action: string
  /** The query of that address, for a page that hides its own: a form is then shown again at the address that it was sent to. */
  readonly query?: Readonly<Record<string, string>>
  readonly visit: FormVisit
  /** Hidden fields. They tell apart forms that are sent to one path. */
  readonly hidden?: Readonly<Record<string, string>>
  /** Values that the ticket binds: they must come back as this page shows them. */
  readonly bound?: readonly string[]
  readonly class?: string
  /** For a form with a file. */
  readonly upload?: boolean
  /** Where the person must first prove that it is them (`proveFirst`). Until then the form is shown but takes nothing. */
  readonly asks?: string | null
  readonly children: ComponentChildren
}

/**
 * A form that changes something, with the ticket that protects it against CSRF. If it was sent after the session had ended, or
 * without a proof that it needs, it is filled in as it was then.
 */
export const Form = ({
  id,
  action,
  query,
  visit,
  hidden = {},
  bound,
  class: name,
  upload = false,
  asks = null,
  children,
}: FormProps) => {
  const { tickets, kept = [], refused } = visit
  const isThis = (form: KeptForm) =>
    form.action === action &&
    Object.entries(hidden).every(([name, value]) => places.has(name) || (form.values[name] ?? '') === value)
  const again = refused === undefined ? kept.find(isThis) : undefined
  const state =
    refused !== undefined && isThis(refused)
      ? { values: refused.values, error: refused.error }
      : { values: again?.values ?? null, error: null }
  if (asks !== null) {
    return (
      <div class={name}>
        <p>
          <LinkButton href={asks}>Confirm that it is you</LinkButton> to use this form.
        </p>
        <fieldset disabled class="asks">
          {children}
        </fieldset>
      </div>
    )
  }
  return (
    <FormState.Provider value={state}>
      <form
        id={id}
        method="post"
        action={query === undefined ? action : `${action}?${new URLSearchParams(query).toString()}`}
        class={name}
        encType={upload ? 'multipart/form-data' : undefined}
        data-once
        data-progress={upload || undefined}
      >
        <input type="hidden" name={ownFormFields.ticket} value={tickets.issue(action, bound)} />
        {tickets.owner === null ? null : <input type="hidden" name={ownFormFields.owner} value={tickets.owner} />}
        {Object.entries(hidden).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {again === undefined ? null : (
          <p class="notice waiting" role="status">
            Not sent yet. The form is filled in as you left it: check it, then send it.
          </p>
        )}
        {children}
      </form>
    </FormState.Provider>
  )
}

/** The main button of a form. */
export const SendButton = ({ children }: { readonly children: ComponentChildren }) => (
  <button type="submit" class="primary">
    {children}
  </button>
)

const linkLooking =
  (look: string) =>
  ({ href, children }: { readonly href: string; readonly children: ComponentChildren }) => (
    <a class={look} href={href}>
      {children}
    </a>
  )

/** A link that looks like a button. */
export const LinkButton = linkLooking('button')
/** The same for what a page is for. */
export const MainLink = linkLooking('button primary')
/** The same in a row. */
export const SmallLink = linkLooking('button small')

type SendOrCancelProps = { readonly button: string; readonly back: string; readonly isRed?: boolean }

/** The end of a form: its button, and the way out. */
export const SendOrCancel = ({ button, back, isRed = false }: SendOrCancelProps) => (
  <div class="beside">
    <button type="submit" class={isRed ? 'danger primary' : 'primary'}>
      {button}
    </button>
    <LinkButton href={back}>Cancel</LinkButton>
  </div>
)

type ButtonFormProps = Pick<FormProps, 'action' | 'visit' | 'hidden' | 'class' | 'asks'> & {
  /** The classes of the button. */
  readonly look?: string
  /** The ID of the text that says what it does. */
  readonly about?: string
  readonly children: ComponentChildren
}

/** A form that has only a button. If a proof is missing the button leads to it, and back to this page. */
export const ButtonForm = ({ visit, look = '', about, asks = null, children, ...form }: ButtonFormProps) =>
  asks === null ? (
    <Form {...form} visit={{ tickets: { ...visit.tickets, owner: null } }}>
      <button type="submit" class={look === '' ? undefined : look} aria-describedby={about}>
        {children}
      </button>
    </Form>
  ) : (
    <a class={`button ${look}`.trim()} href={asks} aria-describedby={about}>
      {children}
    </a>
  )
