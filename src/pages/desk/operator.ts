import type { Door } from '../../http/door.ts'
import { actingAs, isOperator } from '../../operations/acting-as.ts'
import type { Platform, Trace } from '../../operations/platform.ts'
import { ticketOf } from '../form.ts'
import { visitOf } from '../visit.ts'

type Change = {
  readonly platform: Platform
  readonly trace: Trace
  readonly actor: { readonly kind: 'operator'; readonly id: string }
}
/** What must hold beside being an operator. */
type Rule = ReturnType<typeof isOperator>

/**
 * What an operation needs to act for the operator who sent this form. In the transaction of the change they must still be
 * an operator in a live session, and the rule must hold.
 */
export const changeBy = (door: Door, request: Request, rule: Rule = noMore): Change => {
  const { session, trace } = visitOf(request)
  return { platform: actingAs(door.platform, trace, session, { may: may(session.user.id, rule) }), ...by(request) }
}

/** The same for a form that may act only once: its ticket is spent with the change. */
export const changeOnceBy = (door: Door, request: Request): Change => {
  const { session, trace } = visitOf(request)
  const authority = { may: isOperator(session.user.id), ticket: ticketOf(request) }
  return { platform: actingAs(door.platform, trace, session, authority), ...by(request) }
}

const noMore: Rule = async () => null

const may =
  (userId: string, rule: Rule): Rule =>
  async (q) =>
    (await isOperator(userId)(q)) ?? (await rule(q))

const by = (request: Request): Pick<Change, 'trace' | 'actor'> => {
  const { session, trace } = visitOf(request)
  return { trace, actor: { kind: 'operator', id: session.user.id } }
}
