import type { Visit } from '../visit.ts'
import { AccountPage } from './account-page.tsx'
import { accountPaths } from './paths.ts'

type OverviewPageProps = {
  readonly visit: Visit
  readonly apps: number
  readonly otherSessions: number
  readonly hasMoreSessions: boolean
}

/** Who this is, and how things stand. */
export const OverviewPage = ({ visit, apps, otherSessions, hasMoreSessions }: OverviewPageProps) => (
  <AccountPage title="Account" visit={visit} path={accountPaths.overview}>
    <dl>
      <dt>Name</dt>
      <dd>
        <bdi>{visit.session.user.name}</bdi>
      </dd>
      <dt>Email address</dt>
      <dd>
        <bdi>{visit.session.user.email}</bdi>
      </dd>
    </dl>
    <p class="muted">Both were set by the operator of this server.</p>
    <div class="cards">
      <article>
        <h2>
          <a href={accountPaths.apps}>Connected apps</a>
        </h2>
        <p>{appsSentence(apps)}</p>
      </article>
      <article>
        <h2>
          <a href={accountPaths.sessions}>Sessions</a>
        </h2>
        <p>{sessionsSentence(otherSessions, hasMoreSessions)}</p>
      </article>
      <article>
        <h2>
          <a href={accountPaths.password}>Password</a>
        </h2>
        <p>Change it when somebody else may know it.</p>
      </article>
    </div>
  </AccountPage>
)

const appsSentence = (count: number): string => {
  if (count === 0) return 'No app can act for you.'
  return count === 1 ? 'One app can act for you.' : `${count} apps can act for you.`
}

const sessionsSentence = (others: number, hasMore: boolean): string => {
  if (others === 0) return 'You are signed in here and nowhere else.'
  if (hasMore) return `You are signed in here and in ${others} other places or more.`
  return `You are signed in here and in ${others === 1 ? 'one other place' : `${others} other places`}.`
}
