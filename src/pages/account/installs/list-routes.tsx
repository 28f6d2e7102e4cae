import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../../domain/errors.ts'
import { parseStoredScope } from '../../../domain/scope.ts'
import type { Door } from '../../../http/door.ts'
import { agreeToScopes, endInstall } from '../../../operations/installs/move-install.ts'
import { listOfferedApps, listOwnInstalls } from '../../../operations/installs/lists.ts'
import { ownsInstall } from '../../../operations/installs/install-record.ts'
import { changeFor, changeOnceFor, type Right } from '../../change.ts'
import { formFields, forms } from '../../form.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
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
        const { platform, trace, actor } = changeFor({ kind: 'user', door, request }, ownerOf(id))
        const outcome = await outcomeOf(endInstall(platform, trace, actor, id))
        return outcome.kind === 'done' ? settled(outcome.value) : await show(door, request, outcome.error)
      },
      { body: formFields({}) },
    )

/** The ticket binds the yes to the scopes that were shown. */
const agreeing = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door, { bound: ['scopes'] }))
    .post(
      agreePath(':id'),
      async ({ request, params: { id }, body }) => {
        const { platform, trace, actor } = changeOnceFor({ kind: 'user', door, request }, ownerOf(id))
        const agreedTo = parseStoredScope(body.scopes)
        const outcome = await outcomeOf(agreeToScopes(platform, trace, actor, { id, agreedTo }))
        return outcome.kind === 'done' ? settled('agree') : await show(door, request, outcome.error)
      },
      { body: formFields({ scopes: Type.String() }) },
    )

const ownerOf =
  (id: string): Right =>
  (userId) =>
    ownsInstall(userId, id)

const settled = (done: keyof typeof notices): Response => seeOther(`${installsPath}?done=${done}`)

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
