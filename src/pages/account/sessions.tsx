import { listSessions, type SessionRecord } from '../../operations/sessions/own-sessions.ts'
import { liveSessionsOf, type Reached } from '../../operations/reach.ts'
import { Badge } from '../design/badge.tsx'
import { ButtonForm } from '../design/form.tsx'
import { IconTile } from '../design/icon.tsx'
import { ListRows, Row } from '../design/row-list.tsx'
import { FilterBar, isLong } from '../design/list-tools.tsx'
import { Time, TimeFact } from '../design/values.tsx'
import { list, listRoutes, search } from '../list.ts'
import { page } from '../page.ts'
import { noticesOf, StepButton } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'
import { signInWords } from '../sign-in-words.tsx'
import { everySessionEnd, otherSessionsEnd, sessionEnd } from './steps.tsx'
import { routes } from '../change.tsx'

/** The browsers in which this person is signed in. */
export const ownSessionRoutes = routes(() => [listRoutes(ownSessions, { by: 'user', show })])

const ownSessions = list('sessions', accountPaths.sessions, { q: search('Browser or address') })

const show = async (visit: Visit): Promise<Response> => {
  const asked = ownSessions.read(visit)
  const { q } = asked.values
  const sessions = await asked.rows((part) => listSessions(visit.door.platform, visit.session, part, q))
  const live = await liveSessionsOf(visit.door.platform, visit.userId)
  return page(
    <AccountPage
      title="Sessions"
      about="The browsers in which you are signed in."
      actions={
        <>
          <StepButton visit={visit} step={otherSessionsEnd} of={live} params={{}} />{' '}
          <StepButton visit={visit} step={everySessionEnd} of={live} params={{}} />
        </>
      }
      visit={visit}
      tab={accountPaths.sessions}
      notices={noticesOf(sessionEnd, otherSessionsEnd)}
    >
      <FilterBar of={asked} isShown={isLong(sessions)} />
      <ListRows of={sessions} row={(session) => <SessionRow visit={visit} live={live} session={session} />} />
      <p class="muted">End every session that you do not recognize, then {signInWords(visit).secure}.</p>
    </AccountPage>,
  )
}

type SessionRowProps = { readonly visit: Visit; readonly live: Reached; readonly session: SessionRecord }

const SessionRow = ({ visit, live, session }: SessionRowProps) => {
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
        <TimeFact words="Signed in" at={session.createdAt} />,
        <TimeFact words="Ends" at={session.expiresAt} />,
      ]}
      actions={
        session.isCurrent ? (
          <ButtonForm action="/sign-out" visit={visit} look="small">
            Sign out here
          </ButtonForm>
        ) : (
          <StepButton visit={visit} step={sessionEnd} of={live} params={{ key: session.key }} look="small">
            {': '}
            <bdi>{name}</bdi>, {session.address}
          </StepButton>
        )
      }
    />
  )
}
