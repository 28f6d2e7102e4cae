import type { Door } from '../http/door.ts'
import { actingAs, type Rule } from '../operations/acting-as.ts'
import type { Platform, Trace } from '../operations/platform.ts'
import { ticketOf } from './old-forms.ts'
import { visitOf } from './visit.ts'

/** What an operation needs to act for a person, and as what they act. */
export type Change<Kind> = {
  readonly platform: Platform
  readonly trace: Trace
  readonly actor: { readonly kind: Kind; readonly id: string }
}
/** The rule for the person of this ID. */
export type Right = (userId: string) => Rule

type Sender<Kind> = { readonly kind: Kind; readonly door: Door; readonly request: Request }

/** For who sent this form, if the right holds in the transaction of the change; the form may be sent again. */
export const changeFor = <const Kind>({ kind, door, request }: Sender<Kind>, right: Right): Change<Kind> => {
  const { session, trace } = visitOf(request)
  const { id } = session.user
  return { platform: actingAs(door.platform, trace, session, { may: right(id) }), trace, actor: { kind, id } }
}

/** The same for a form that may act only once: its ticket is spent with the change. */
export const changeOnceFor = <const Kind>({ kind, door, request }: Sender<Kind>, right: Right): Change<Kind> => {
  const { session, trace } = visitOf(request)
  const { id } = session.user
  const authority = { may: right(id), ticket: ticketOf(request) }
  return { platform: actingAs(door.platform, trace, session, authority), trace, actor: { kind, id } }
}
