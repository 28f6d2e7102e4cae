import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { sessionCookie } from '../../http/session-cookie.ts'
import { actingAs } from '../../operations/acting-as.ts'
import {
  endOtherSessions,
  endSession,
  listSessions,
  type SessionRecord,
} from '../../operations/sessions/own-sessions.ts'
import { Badge } from '../components/badges.tsx'
import { Form } from '../components/form.tsx'
import { Older } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { emptyForm, receiveFromUser } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { listPart, noticeFor, olderPath } from '../query.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { AccountPage, accountPaths, endSessionPath } from './account-page.tsx'

const notices = {
  ended: 'The session has ended. Its browser has to sign in again.',
  'ended-others': 'Every other session has ended.',
} as const

/** The name in its cursors. */
const list = 'sessions'

/** The browsers in which this person is signed in. */
export const ownSessionRoutes = (door: Door) =>
  new Elysia()
    .get(accountPaths.sessions, async ({ request }) => {
      const visit = await requireVisit(door, request)
      const { data, nextCursor } = await listSessions(door.platform, visit.session, listPart(visit, list))
      const olderHref = olderPath(accountPaths.sessions, list, nextCursor)
      const notice = noticeFor(visit, notices)
      return page(<SessionsPage visit={visit} notice={notice} sessions={data} olderHref={olderHref} />)
    })
    .post(endSessionPath(':key'), async ({ request, params: { key } }) => {
      const { session, call: trace } = (await receiveFromUser(door, request, emptyForm)).visit
      await endSession(actingAs(door.platform, trace, session), trace, session, key)
      return key === session.sessionKey
        ? seeOther('/sign-in', [sessionCookie(door, '', 0)])
        : seeOther(`${accountPaths.sessions}?done=ended`)
    })
    .post(accountPaths.endOthers, async ({ request }) => {
      const { session, call: trace } = (await receiveFromUser(door, request, emptyForm)).visit
      await endOtherSessions(actingAs(door.platform, trace, session), trace, session)
      return seeOther(`${accountPaths.sessions}?done=ended-others`)
    })

type SessionsPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly sessions: readonly SessionRecord[]
  readonly olderHref: string | null
}

const SessionsPage = ({ visit, notice, sessions, olderHref }: SessionsPageProps) => (
  <AccountPage title="Sessions" visit={visit} tab={accountPaths.sessions} notice={notice}>
    <p>
      The browsers in which you are signed in. Each session ends at the time shown. End every session that you do not
      know, then <a href={accountPaths.password}>change your password</a>.
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
    <p>All other browsers are signed out at once. Connected apps stay connected.</p>
    <Form action={accountPaths.endOthers} visit={visit}>
      <button type="submit" class="danger small">
        End all other sessions
      </button>
    </Form>
  </section>
)
