import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listConnectedApps } from '../../operations/grants/connected-apps.ts'
import { listSessions } from '../../operations/sessions/own-sessions.ts'
import { page } from '../page.ts'
import { signedIn, visitOf } from '../visit.ts'
import { OverviewPage } from './overview-page.tsx'
import { accountPaths } from './paths.ts'

/** Sessions beyond these are told as "or more". */
const countedSessions = 50

export const overviewRoutes = (door: Door) =>
  new Elysia().use(signedIn(door)).get(accountPaths.overview, async ({ request }) => {
    const visit = visitOf(request)
    const [apps, sessions] = await Promise.all([
      listConnectedApps(door.platform, visit.session),
      listSessions(door.platform, visit.session, { limit: countedSessions, cursor: null }),
    ])
    const others = sessions.data.filter(({ isCurrent }) => !isCurrent).length
    return page(
      <OverviewPage
        visit={visit}
        apps={apps.length}
        otherSessions={others}
        hasMoreSessions={sessions.nextCursor !== null}
      />,
    )
  })
