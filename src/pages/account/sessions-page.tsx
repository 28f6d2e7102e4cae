import type { SessionRecord } from '../../operations/sessions/own-sessions.ts'
import { Badge } from '../components/badge.tsx'
import { Form } from '../components/form.tsx'
import { Older } from '../components/older.tsx'
import { Time } from '../components/time.tsx'
import type { Visit } from '../visit.ts'
import { AccountPage } from './account-page.tsx'
import { accountPaths, endSessionPath } from './paths.ts'

type SessionsPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly sessions: readonly SessionRecord[]
  /** Where the older ones are; null when these are all. */
  readonly olderHref: string | null
}

export const SessionsPage = ({ visit, notice, sessions, olderHref }: SessionsPageProps) => (
  <AccountPage title="Sessions" visit={visit} path={accountPaths.sessions} notice={notice}>
    <p>
      Where you are signed in now. Each session ends by itself at the time it shows. End any that you do not know, and
      then <a href={accountPaths.password}>change your password</a>.
    </p>
    <div class="cards">
      {sessions.map((session) => (
        <SessionCard key={session.key} visit={visit} session={session} />
      ))}
    </div>
    <Older href={olderHref} name="Older sessions" />
    {sessions.length > 1 || olderHref !== null ? <EndOthers visit={visit} /> : null}
  </AccountPage>
)

const SessionCard = ({ visit, session }: { readonly visit: Visit; readonly session: SessionRecord }) => {
  const name = session.agent ?? 'Unknown browser'
  return (
    <article>
      <h2>
        <bdi>{name}</bdi> {session.isCurrent ? <Badge tone="good">This session</Badge> : null}
      </h2>
      <dl>
        <dt>Address</dt>
        <dd>{session.address}</dd>
        <dt>Signed in</dt>
        <dd>
          <Time at={session.createdAt} />
        </dd>
        <dt>Ends</dt>
        <dd>
          <Time at={session.expiresAt} />
        </dd>
      </dl>
      <Form action={endSessionPath(session.key)} visit={visit}>
        <button type="submit" class="outline secondary small">
          {session.isCurrent ? 'Sign out here' : 'End session'}
          <span class="unseen">
            {': '}
            <bdi>{name}</bdi>, {session.address}
          </span>
        </button>
      </Form>
    </article>
  )
}

const EndOthers = ({ visit }: { readonly visit: Visit }) => (
  <section aria-labelledby="end-others">
    <h2 id="end-others">End all other sessions</h2>
    <p>Everywhere but here you will have to sign in again, at once. Connected apps stay connected.</p>
    <Form action={accountPaths.endOthers} visit={visit}>
      <button type="submit" class="danger small">
        End all other sessions
      </button>
    </Form>
  </section>
)
