import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type PlatformError, refuse } from '../../../domain/errors.ts'
import { endingStep } from '../../../domain/install.ts'
import { parseStoredScope } from '../../../domain/scope.ts'
import type { Door } from '../../../http/door.ts'
import { agreeToScopes } from '../../../operations/installs/agree-to-scopes.ts'
import { listOfferedApps } from '../../../operations/installs/list-offered-apps.ts'
import { listOwnInstalls } from '../../../operations/installs/list-own-installs.ts'
import { moveInstall } from '../../../operations/installs/move-install.ts'
import { ownsInstall } from '../../../operations/installs/owns-install.ts'
import { type Change, changeOnceFor } from '../../change.ts'
import { formFields, forms } from '../../form.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { noticeOf } from '../../notice.ts'
import { type Outcome, outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { signedIn, visitOf } from '../../visit.ts'
import { InstallsPage } from './installs-page.tsx'
import { agreePath, endPath, installsPath } from './paths.ts'

const notices = {
  pending: 'You agreed. The install now waits for an operator to approve it.',
  approved: 'The app is installed and can work from now on.',
  withdraw: 'The install is withdrawn.',
  deactivate: 'The install has ended. The app gets nothing through it any more.',
  agree: 'You agreed. The app can do what it asks for from now on.',
} as const

/** What cursors are named after, and the parameter that each list has. */
const lists = {
  installs: ['own-installs', 'installs'],
  apps: ['offered-apps', 'apps'],
} as const

export const listRoutes = (door: Door) => new Elysia().use(listAndEnd(door)).use(agreeing(door))

const listAndEnd = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .get(installsPath, async ({ request }) => await show(door, request, null))
    .post(
      endPath(':id'),
      async ({ request, params: { id } }) => {
        const found = (await door.platform.database.queries.installs.find(id))?.install
        const { session } = visitOf(request)
        if (found?.userId !== session.user.id) throw refuse('route_not_found')
        const step = endingStep(found)
        const { platform, trace, actor } = change(door, request, id)
        if (step === null) return await show(door, request, refuse('version_not_eligible', { message: isOver }))
        const outcome = await outcomeOf(moveInstall(platform, trace, actor, { id, step }))
        return await settled(door, request, outcome, step)
      },
      { body: formFields({}) },
    )

const isOver = 'This install has ended already. Nothing was changed.'

/** The ticket binds the yes to the scopes that were shown. */
const agreeing = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door, { bound: ['scopes'] }))
    .post(
      agreePath(':id'),
      async ({ request, params: { id }, body }) => {
        const { platform, trace, actor } = change(door, request, id)
        const agreedTo = parseStoredScope(body.scopes)
        return await settled(
          door,
          request,
          await outcomeOf(agreeToScopes(platform, trace, actor, { id, agreedTo })),
          'agree',
        )
      },
      { body: formFields({ scopes: Type.String() }) },
    )

/** A change that the owner of the install makes, once per form. */
const change = (door: Door, request: Request, id: string): Change<'user'> =>
  changeOnceFor({ kind: 'user', door, request }, (userId) => ownsInstall(userId, id))

const settled = async (
  door: Door,
  request: Request,
  outcome: Outcome<unknown>,
  sentence: keyof typeof notices,
): Promise<Response> =>
  outcome.kind === 'done' ? seeOther(`${installsPath}?done=${sentence}`) : await show(door, request, outcome.error)

const show = async (door: Door, request: Request, error: PlatformError | null): Promise<Response> => {
  const visit = visitOf(request)
  const installs = await listOwnInstalls(door.platform, visit.session, listingOf(...asked(lists.installs, request)))
  const apps = await listOfferedApps(door.platform, listingOf(...asked(lists.apps, request)))
  return page(
    <InstallsPage
      visit={visit}
      notice={noticeOf(door, request, notices)}
      error={error}
      installs={{ data: installs.data, moreHref: moreOf(lists.installs, installs.nextCursor) }}
      apps={{ data: apps.data, moreHref: moreOf(lists.apps, apps.nextCursor) }}
    />,
    { refusal: error },
  )
}

type List = (typeof lists)[keyof typeof lists]
const asked = ([name, param]: List, request: Request) => [name, request, param] as const
const moreOf = ([name, param]: List, cursor: string | null) => olderPath(installsPath, name, cursor, {}, param)
