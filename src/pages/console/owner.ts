import type { Door } from '../../http/door.ts'
import { actingAs } from '../../operations/acting-as.ts'
import { ownedApp, type OwnedApp } from '../../operations/apps/owned-app.ts'
import type { ownsActiveApp } from '../../operations/apps/owns-active-app.ts'
import type { Platform, Trace } from '../../operations/platform.ts'
import { ticketOf } from '../form.ts'
import { type Visit, visitOf } from '../visit.ts'

/** A signed-in developer and one of their apps. */
export type OwnApp = { readonly visit: Visit; readonly app: OwnedApp }

/**
 * Who asks, and the app of the path if it is theirs.
 * @throws route_not_found for an app that is not
 */
export const ownAppOf = async (door: Door, request: Request, slug: string): Promise<OwnApp> => {
  const visit = visitOf(request)
  return { visit, app: await ownedApp(door.platform, visit.session.user.id, slug) }
}

type Change = {
  readonly platform: Platform
  readonly trace: Trace
  readonly actor: { readonly kind: 'user'; readonly id: string }
}
/** Makes the check of what a person may, for the ID of this person. */
type Right = (userId: string) => ReturnType<typeof ownsActiveApp>

/** What an operation needs to act for the person who sent this form, if they may; the form may be sent again. */
export const changeBy = (door: Door, request: Request, right: Right): Change => {
  const { session, trace } = visitOf(request)
  const { id } = session.user
  return { platform: actingAs(door.platform, trace, session, { may: right(id) }), trace, actor: { kind: 'user', id } }
}

/** The same for a form that may act only once: its ticket is spent with the change. */
export const changeOnceBy = (door: Door, request: Request, right: Right): Change => {
  const { session, trace } = visitOf(request)
  const { id } = session.user
  const authority = { may: right(id), ticket: ticketOf(request) }
  return { platform: actingAs(door.platform, trace, session, authority), trace, actor: { kind: 'user', id } }
}
