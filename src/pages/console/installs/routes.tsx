import { Elysia } from 'elysia'
import type { Door } from '../../../http/door.ts'
import { listAppInstalls } from '../../../operations/installs/lists.ts'
import { page } from '../../page.ts'
import { signedIn } from '../../visit.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { ownAppOf } from '../owner.ts'
import { appPath } from '../paths.ts'
import { InstallsPage } from './installs-page.tsx'

/** Where the app is in use. */
export const installRoutes = (door: Door) =>
  new Elysia().use(signedIn(door)).get('/console/:slug/installs', async ({ request, params: { slug } }) => {
    const { visit, app } = await ownAppOf(door, request, slug)
    const { data, nextCursor } = await listAppInstalls(door.platform, app.id, listingOf('app-installs', request))
    const older = olderPath(appPath(slug, 'installs'), 'app-installs', nextCursor)
    return page(<InstallsPage visit={visit} app={app} installs={data} older={older} />)
  })
