import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listSessions, type SessionRecord } from '../../operations/sessions/own-sessions.ts'
import { Badge } from '../design/badge.tsx'
import { ButtonForm } from '../design/field.tsx'
import { Pager } from '../design/list-tools.tsx'
import { Cards } from '../design/table.tsx'
import { Facts, Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { readList } from '../query.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { AccountPage, accountPaths, endSessionPath } from './account-page.tsx'

const notices = {
  ended: 'The session has ended. Its browser has to sign in again.',
  'ended-others': 'Every other session has ended.',
} as const

/** The browsers in which this person is signed in. */
export const ownSessionRoutes = (door: Door) =>
  new Elysia().get(accountPaths.sessions, async ({ request }) => {
    const visit = await requireVisit(door, request)
    const place = { list: 'sessions', path: accountPaths.sessions }
    const list = await readList(visit, place, (part) => listSessions(door.platform, visit.session, part))
    const { rows, olderHref } = list
    return page(
      <AccountPage title="Sessions" visit={visit} tab={accountPaths.sessions} notices={notices}>
        <p>
          The browsers in which you are signed in. Each session ends at the time shown. End every session that you do
          not know, then <a href={accountPaths.password}>change your password</a>.
        </p>
        <Cards rows={rows} card={(session) => <SessionCard visit={visit} session={session} />} />
        <Pager {...list} shown={rows.length} />
        {rows.length > 1 || olderHref !== null ? <EndOthers /> : null}
      </AccountPage>,
    )
  })

const SessionCard = ({ visit, session }: { readonly visit: Visit; readonly session: SessionRecord }) => {
  const name = session.agent ?? 'Unknown browser'
  return (
    <article>
      <h2>
        <bdi>{name}</bdi> {session.isCurrent ? <Badge tone="good">This session</Badge> : null}
      </h2>
      <Facts
        of={{
          Address: session.address,
          'Signed in': <Time at={session.createdAt} />,
          Ends: <Time at={session.expiresAt} />,
        }}
      />
      {session.isCurrent ? (
        <ButtonForm action="/sign-out" visit={visit} look="outline secondary small">
          Sign out here
        </ButtonForm>
      ) : (
        <a class="button outline secondary small" href={endSessionPath(session.key)}>
          End session
          <span class="unseen">
            {': '}
            <bdi>{name}</bdi>, {session.address}
          </span>
        </a>
      )}
    </article>
  )
}

const EndOthers = () => (
  <section aria-labelledby="end-others">
    <h2 id="end-others">End all other sessions</h2>
    <p>All other browsers are signed out at once. Connected apps stay connected.</p>
    <a class="button small outline" href={accountPaths.endOthers}>
      End all other sessions
    </a>
  </section>
)
