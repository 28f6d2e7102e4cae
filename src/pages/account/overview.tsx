import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listConnectedApps } from '../../operations/connected-apps.ts'
import type { Factors } from '../../operations/factors/factors.ts'
import { listSessions } from '../../operations/sessions/own-sessions.ts'
import { inspectUser } from '../../operations/users/find-user.ts'
import { Avatar } from '../design/avatar.tsx'
import { IconTile } from '../design/icon.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ChosenName } from '../design/values.tsx'
import { page } from '../page.ts'
import { requireVisit } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'

/** More sessions than this are shown as "or more". */
const countedSessions = 50

/** The first page of the account: who is signed in, and what else the account has. */
export const accountOverviewRoutes = (door: Door) =>
  new Elysia().get(accountPaths.overview, async ({ request }) => {
    const visit = await requireVisit(door, request)
    const [user, apps, sessions] = await Promise.all([
      inspectUser(door.platform, visit.userId),
      listConnectedApps(door.platform, visit.session),
      listSessions(door.platform, visit.session, { limit: countedSessions, cursor: null }),
    ])
    const others = sessions.data.filter(({ isCurrent }) => !isCurrent).length
    const hasMore = sessions.nextCursor !== null
    return page(
      <AccountPage title="Account" visit={visit} tab={accountPaths.overview}>
        <div class="profile">
          <Avatar id={visit.userId} name={visit.session.user.name} />
          <div>
            <p>
              <ChosenName name={visit.session.user.name} />
            </p>
            <p class="muted">
              <bdi>{visit.session.user.email}</bdi>
            </p>
          </div>
        </div>
        <RowList
          label="Your account"
          rows={
            [
              { href: accountPaths.apps, name: 'Connected apps', icon: 'link', fact: appsSentence(apps.length) },
              { href: accountPaths.installs, name: 'Installs', icon: 'box', fact: installsSentence },
              {
                href: accountPaths.sessions,
                name: 'Sessions',
                icon: 'screen',
                fact: sessionsSentence(others, hasMore),
              },
              {
                href: accountPaths.email,
                name: 'Email address',
                icon: 'mail',
                fact: 'You sign in with it and receive emails there.',
              },
              {
                href: accountPaths.password,
                name: 'Password',
                icon: 'lock',
                fact: user.hasPassword ? passwordSentence : noPasswordSentence,
              },
              {
                href: accountPaths.factors,
                name: 'Second factors',
                icon: 'shield',
                fact: factorsSentence(user.factors),
              },
            ] as const
          }
          row={({ href, name, icon, fact }) => (
            <Row href={href} avatar={<IconTile name={icon} />} title={name} facts={[fact]} />
          )}
        />
        <p class="muted">Only the operator of this server can change your name.</p>
      </AccountPage>,
    )
  })

const installsSentence = 'The apps on your websites and stores, and the apps that you can install.'
const noPasswordSentence = 'You have none here, because you sign in through another site.'
const passwordSentence = 'Change it if somebody else may know it.'

const factorsSentence = ({ totp, passkeys }: Factors): string => {
  if (passkeys.length > 0) return `Signing in needs a passkey${totp === null ? '' : ' or your authenticator app'}.`
  return totp === null ? 'Your password alone is enough to sign in.' : 'Signing in needs your authenticator app.'
}

const appsSentence = (count: number): string => {
  if (count === 0) return 'No app can act for you.'
  return count === 1 ? 'One app can act for you.' : `${count} apps can act for you.`
}

const sessionsSentence = (others: number, hasMore: boolean): string => {
  if (others === 0) return 'You are signed in here and nowhere else.'
  if (hasMore) return `You are signed in here and in ${others} or more other places.`
  return `You are signed in here and in ${others === 1 ? 'one other place' : `${others} other places`}.`
}
