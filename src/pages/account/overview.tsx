import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listConnectedApps } from '../../operations/connected-apps.ts'
import { listSessions } from '../../operations/sessions/own-sessions.ts'
import { Facts } from '../design/values.tsx'
import { page } from '../page.ts'
import { LinkCards } from '../design/shell.tsx'
import { requireVisit } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'

/** More sessions than this are shown as "or more". */
const countedSessions = 50

/** The first page of the account: who is signed in, and what else the account has. */
export const accountOverviewRoutes = (door: Door) =>
  new Elysia().get(accountPaths.overview, async ({ request }) => {
    const visit = await requireVisit(door, request)
    const [apps, sessions] = await Promise.all([
      listConnectedApps(door.platform, visit.session),
      listSessions(door.platform, visit.session, { limit: countedSessions, cursor: null }),
    ])
    const others = sessions.data.filter(({ isCurrent }) => !isCurrent).length
    const hasMore = sessions.nextCursor !== null
    return page(
      <AccountPage title="Account" visit={visit} tab={accountPaths.overview}>
        <Facts
          of={{ Name: <bdi>{visit.session.user.name}</bdi>, 'Email address': <bdi>{visit.session.user.email}</bdi> }}
        />
        <p class="muted">The operator of this server sets both.</p>
        <LinkCards
          links={[
            { href: accountPaths.apps, name: 'Connected apps', about: appsSentence(apps.length) },
            { href: accountPaths.sessions, name: 'Sessions', about: sessionsSentence(others, hasMore) },
            { href: accountPaths.password, name: 'Password', about: 'Change it if somebody else may know it.' },
          ]}
        />
      </AccountPage>,
    )
  })

const appsSentence = (count: number): string => {
  if (count === 0) return 'No app can act for you.'
  return count === 1 ? 'One app can act for you.' : `${count} apps can act for you.`
}

const sessionsSentence = (others: number, hasMore: boolean): string => {
  if (others === 0) return 'You are signed in here and nowhere else.'
  if (hasMore) return `You are signed in here and in ${others} or more other places.`
  return `You are signed in here and in ${others === 1 ? 'one other place' : `${others} other places`}.`
}
