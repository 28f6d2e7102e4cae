import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { actingAs } from '../../operations/acting-as.ts'
import {
  type ConnectedApp,
  type ConnectedAppChoice,
  listAuthorizations,
  listConnectedApps,
  revokeConnectedApps,
} from '../../operations/grants/connected-apps.ts'
import { revokeByUser } from '../../operations/oauth/revoke.ts'
import type { SessionCaller } from '../../operations/authenticate.ts'
import { formFields, forms } from '../form.ts'
import { listingOf, olderPath } from '../listing.ts'
import { noticeOf } from '../notice.ts'
import { page, seeOther } from '../page.ts'
import { signedIn, visitOf } from '../visit.ts'
import { AppPage } from './app-page.tsx'
import { AppsPage } from './apps-page.tsx'
import { accountPaths, appPath, revokeAppPath, revokeAuthorizationPath } from './paths.ts'

const notices = {
  revoked: 'Access revoked. Nothing that the app held works any more.',
  'revoked-all': 'Access revoked for every app. Nothing that they held works any more.',
  'revoked-one': 'This authorization is revoked. Nothing that came from it works any more.',
} as const

/** What its cursors are named after. */
const listed = 'authorizations'

export const appRoutes = (door: Door) => new Elysia().use(appPages(door)).use(appForms(door))

const appPages = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .get(accountPaths.apps, async ({ request }) => {
      const visit = visitOf(request)
      const apps = await listConnectedApps(door.platform, visit.session)
      return page(<AppsPage visit={visit} notice={noticeOf(door, request, notices)} apps={apps} />)
    })
    .get(appPath(':clientId'), async ({ request, params: { clientId } }) => {
      const visit = visitOf(request)
      const app = await findConnectedApp(door, visit.session, clientId)
      if (app === null) throw refuse('route_not_found')
      const list = await listAuthorizations(door.platform, visit.session, clientId, listingOf(listed, request))
      const olderHref = olderPath(appPath(clientId), listed, list.nextCursor)
      const shown = { visit, app, authorizations: list.data, olderHref, notice: noticeOf(door, request, notices) }
      return page(<AppPage {...shown} />)
    })

const appForms = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .post(
      accountPaths.revokeAll,
      async ({ request }) => {
        await revoke(door, request, { kind: 'all' })
        return seeOther(`${accountPaths.apps}?done=revoked-all`)
      },
      { body: formFields({}) },
    )
    .post(
      revokeAppPath(':clientId'),
      async ({ request, params: { clientId } }) => {
        await revoke(door, request, { kind: 'one', clientId })
        return seeOther(`${accountPaths.apps}?done=revoked`)
      },
      { body: formFields({}) },
    )
    .post(
      revokeAuthorizationPath(':clientId', ':grantId'),
      async ({ request, params: { clientId, grantId } }) => {
        const { session, trace } = visitOf(request)
        await revokeByUser(actingAs(door.platform, trace, session), trace, session, grantId)
        const isLeft = (await findConnectedApp(door, session, clientId)) !== null
        return seeOther(isLeft ? `${appPath(clientId)}?done=revoked-one` : `${accountPaths.apps}?done=revoked`)
      },
      { body: formFields({}) },
    )

const revoke = async (door: Door, request: Request, choice: ConnectedAppChoice): Promise<void> => {
  const { session, trace } = visitOf(request)
  await revokeConnectedApps(actingAs(door.platform, trace, session), trace, session, choice)
}

const findConnectedApp = async (door: Door, caller: SessionCaller, clientId: string): Promise<ConnectedApp | null> =>
  (await listConnectedApps(door.platform, caller)).find((app) => app.clientId === clientId) ?? null
