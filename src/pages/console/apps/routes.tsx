import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../../domain/errors.ts'
import type { Door } from '../../../http/door.ts'
import { createApp } from '../../../operations/apps/create-app.ts'
import { listOwnApps } from '../../../operations/apps/lists.ts'
import { formFields, forms } from '../../old-forms.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { signedIn, visitOf } from '../../visit.ts'
import { alreadyDone } from '../already-done.tsx'
import { changeOnceBy } from '../owner.ts'
import { appPath, consolePath, newAppPath } from '../paths.ts'
import { AppsPage } from './apps-page.tsx'
import { NewAppPage, type NewAppValues } from './new-app-page.tsx'

const nothing: NewAppValues = { name: '', slug: '', scopes: [] }
/** Whoever is signed in may register an app; whose it is, the session says. */
const anybody = () => async () => null

/** A developer's own apps, and the way to another one. */
export const appsRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door, { lists: ['scopes'] }))
    .get(consolePath, async ({ request }) => {
      const visit = visitOf(request)
      const apps = await listOwnApps(door.platform, visit.session.user.id)
      return page(<AppsPage visit={visit} apps={apps} quota={door.platform.quotas.apps} />)
    })
    .get(newAppPath, async ({ request }) => showForm(request, nothing, null))
    .post(newAppPath, async ({ request, body }) => await create(door, request, body), {
      body: formFields({ name: Type.String(), slug: Type.String(), scopes: Type.Array(Type.String()) }),
    })

const showForm = (request: Request, values: NewAppValues, error: PlatformError | null): Response =>
  page(<NewAppPage visit={visitOf(request)} values={values} error={error} />, { refusal: error })

const create = async (door: Door, request: Request, { name, slug, scopes }: NewAppValues): Promise<Response> => {
  const { visit, platform, trace, actor } = { visit: visitOf(request), ...changeOnceBy(door, request, anybody) }
  const input = { ownerEmail: visit.session.user.email, name, slug, scopes: scopes.join(' ') }
  const outcome = await outcomeOf(createApp(platform, trace, actor, input))
  if (outcome.kind === 'done') return seeOther(`${appPath(outcome.value.slug)}?done=app`)
  if (outcome.error.code !== 'idempotency_key_reused') return showForm(request, { name, slug, scopes }, outcome.error)
  const own = await listOwnApps(platform, visit.session.user.id)
  return own.some((app) => app.slug === slug)
    ? alreadyDone({ visit, message: madeBefore, href: appPath(slug), name: 'Go to the app' })
    : alreadyDone({ visit, message: refusedBefore, href: newAppPath, name: 'Open a new form' })
}

const madeBefore = 'This form was sent before and has registered your app. Nothing was done a second time.'
const refusedBefore =
  'This form was sent before, and nothing was registered. A form can be sent once: please use a new one.'
