import type { Door } from '../../http/door.ts'
import { ownedApp, type OwnedApp } from '../../operations/apps/app-record.ts'
import { type Change, changeFor, changeOnceFor, type Right } from '../change.ts'
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

/** What an operation needs to act for the developer who sent this form, if they may; the form may be sent again. */
export const changeBy = (door: Door, request: Request, right: Right): Change<'user'> =>
  changeFor({ kind: 'user', door, request }, right)

/** The same for a form that may act only once. */
export const changeOnceBy = (door: Door, request: Request, right: Right): Change<'user'> =>
  changeOnceFor({ kind: 'user', door, request }, right)
