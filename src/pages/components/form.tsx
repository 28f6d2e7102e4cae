import type { ComponentChildren } from 'preact'
import type { TicketBook } from '../../http/call.ts'

type FormProps = {
  /** The path that the form is sent to; its ticket is good for nothing else. */
  readonly action: string
  readonly visit: { readonly tickets: TicketBook }
  /** Facts that must come back as they are shown here. */
  readonly bound?: readonly string[]
  readonly class?: string
  readonly children: ComponentChildren
}

/** A form that changes something, with the ticket that proves it is ours. */
export const Form = ({ action, visit, bound, class: name, children }: FormProps) => (
  <form method="post" action={action} class={name} data-once>
    <input type="hidden" name="ticket" value={visit.tickets.issue(action, bound)} />
    {children}
  </form>
)
