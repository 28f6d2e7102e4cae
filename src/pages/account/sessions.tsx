import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listSessions, type SessionRecord } from '../../operations/sessions/own-sessions.ts'
import { Badge } from '../design/badge.tsx'
import { ButtonForm } from '../design/form.tsx'
import { IconTile } from '../design/icon.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { noMatch, Pager, SearchBar } from '../design/list-tools.tsx'
import { Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { parameterOf, readList } from '../query.ts'
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
    const path = accountPaths.sessions
    const q = parameterOf(visit, 'q')
    const list = await readList(visit, { list: 'sessions', path, query: { q } }, (part) =>
      listSessions(door.platform, visit.session, part, q),
    )
    const { rows, olderHref } = list
    return page(
      <AccountPage
        title="Sessions"
        about="The browsers in which you are signed in."
        actions={
          <>
            {rows.length > 1 || olderHref !== null || q !== '' ? (
              <a class="button" href={accountPaths.endOthers}>
                End all other sessions
              </a>
            ) : null}{' '}
            <a class="button" href={accountPaths.endEvery}>
              Sign out everywhere
            </a>
          </>
        }
        visit={visit}
        tab={accountPaths.sessions}
        notices={notices}
      >
        <SearchBar path={path} label="Browser or address" part={q} shown={list} />
        <RowList
          rows={rows}
          row={(session) => <SessionRow visit={visit} session={session} />}
          empty={noMatch(list, q !== '', null)}
        />
        <Pager {...list} shown={rows.length} />
        <p class="muted">
          End every session that you do not recognize, then <a href={accountPaths.password}>change your password</a>.
        </p>
      </AccountPage>,
    )
  })

const SessionRow = ({ visit, session }: { readonly visit: Visit; readonly session: SessionRecord }) => {
  const name = session.agent ?? 'Unknown browser'
  return (
    <Row
      avatar={<IconTile name="screen" />}
      title={<bdi>{name}</bdi>}
      badge={session.isCurrent ? <Badge tone="good">This session</Badge> : undefined}
      facts={[
        <>
          Used <Time at={session.usedAt} /> from {session.address}
        </>,
        <>
          Signed in <Time at={session.createdAt} />
        </>,
        <>
          Ends <Time at={session.expiresAt} />
        </>,
      ]}
      actions={
        session.isCurrent ? (
          <ButtonForm action="/sign-out" visit={visit} look="small">
            Sign out here
          </ButtonForm>
        ) : (
          <a class="button small" href={endSessionPath(session.key)}>
            End session
            <span class="unseen">
              {': '}
              <bdi>{name}</bdi>, {session.address}
            </span>
          </a>
        )
      }
    />
  )
}
