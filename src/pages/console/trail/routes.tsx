import { Elysia } from 'elysia'
import type { Door } from '../../../http/door.ts'
import { listAppEvents } from '../../../operations/audit/lists.ts'
import { page } from '../../page.ts'
import { signedIn } from '../../visit.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { ownAppOf } from '../owner.ts'
import { appPath } from '../paths.ts'
import { actionWords } from './action-words.ts'
import { TrailPage } from './trail-page.tsx'

/** What happened to the app. */
export const trailRoutes = (door: Door) =>
  new Elysia().use(signedIn(door)).get('/console/:slug/trail', async ({ request, params: { slug } }) => {
    const { visit, app } = await ownAppOf(door, request, slug)
    const action = actionOf(request)
    const { data, nextCursor } = await listAppEvents(door.platform, app, action, listingOf('app-trail', request))
    const older = olderPath(appPath(slug, 'trail'), 'app-trail', nextCursor, action === null ? {} : { action })
    return page(<TrailPage visit={visit} app={app} events={data} action={action} older={older} />)
  })

/** Empty, as the form sends it for everything, and whatever has no name: everything. */
const actionOf = (request: Request): string | null => {
  const asked = new URL(request.url).searchParams.get('action')
  return asked !== null && actionWords.has(asked) ? asked : null
}
