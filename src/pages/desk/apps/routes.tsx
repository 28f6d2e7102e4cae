import { Elysia } from 'elysia'
import type { AppStatus } from '../../../domain/app.ts'
import type { Door } from '../../../http/door.ts'
import { inspectApp } from '../../../operations/apps/overview.ts'
import { searchApps } from '../../../operations/apps/lists.ts'
import { setAppStatus } from '../../../operations/apps/change-app.ts'
import { formFields, forms } from '../../old-forms.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { noticeOf } from '../../notice.ts'
import { page, seeOther } from '../../page.ts'
import { operatorOnly, visitOf } from '../../visit.ts'
import { changeBy } from '../operator.ts'
import { appPath, deskPaths } from '../paths.ts'
import { queryOf } from '../query.ts'
import { AppPage } from './app-page.tsx'
import { AppsPage } from './apps-page.tsx'

const notices = {
  suspended: 'The app is suspended. Nothing of it works any more.',
  active: 'The app is active. What has not expired works again.',
} as const satisfies Record<AppStatus, string>

const listed = 'desk-apps'

/** Every app, and whether it may be used. */
export const appRoutes = (door: Door) =>
  new Elysia()
    .use(operatorOnly(door))
    .use(forms(door))
    .get(deskPaths.apps, async ({ request }) => {
      const part = queryOf(request, 'q')
      const { data, nextCursor } = await searchApps(door.platform, part, listingOf(listed, request))
      const moreHref = olderPath(deskPaths.apps, listed, nextCursor, part === '' ? {} : { q: part })
      return page(<AppsPage visit={visitOf(request)} part={part} apps={data} moreHref={moreHref} />)
    })
    .get('/desk/apps/:slug', async ({ request, params: { slug } }) => {
      const app = await inspectApp(door.platform, slug)
      return page(<AppPage visit={visitOf(request)} app={app} notice={noticeOf(door, request, notices)} />)
    })
    .post(
      '/desk/apps/:slug/suspend',
      async ({ request, params: { slug } }) => await setStatus(door, request, slug, 'suspended'),
      noFields,
    )
    .post(
      '/desk/apps/:slug/activate',
      async ({ request, params: { slug } }) => await setStatus(door, request, slug, 'active'),
      noFields,
    )

const noFields = { body: formFields({}) }

/** Suspending what is suspended changes nothing, so a second press is harmless. */
const setStatus = async (door: Door, request: Request, slug: string, status: AppStatus): Promise<Response> => {
  const { platform, trace, actor } = changeBy(door, request)
  await inspectApp(platform, slug)
  await setAppStatus(platform, trace, actor, { slug, status })
  return seeOther(`${appPath(slug)}?done=${status}`)
}
