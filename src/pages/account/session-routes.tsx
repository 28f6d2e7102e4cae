import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { sessionCookie } from '../../http/session-cookie.ts'
import { actingAs } from '../../operations/acting-as.ts'
import { endOtherSessions, endSession, listSessions } from '../../operations/sessions/own-sessions.ts'
import { formFields, forms } from '../form.ts'
import { listingOf, olderPath } from '../listing.ts'
import { noticeOf } from '../notice.ts'
import { page, seeOther } from '../page.ts'
import { signedIn, visitOf } from '../visit.ts'
import { accountPaths, endSessionPath } from './paths.ts'
import { SessionsPage } from './sessions-page.tsx'

const notices = {
  ended: 'The session has ended. Whoever used it has to sign in again.',
  'ended-others': 'Every other session has ended.',
} as const

/** What its cursors are named after. */
const listed = 'sessions'

export const sessionRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .get(accountPaths.sessions, async ({ request }) => {
      const visit = visitOf(request)
      const sessions = await listSessions(door.platform, visit.session, listingOf(listed, request))
      const olderHref = olderPath(accountPaths.sessions, listed, sessions.nextCursor)
      const notice = noticeOf(door, request, notices)
      return page(<SessionsPage visit={visit} notice={notice} sessions={sessions.data} olderHref={olderHref} />)
    })
    .post(
      endSessionPath(':key'),
      async ({ request, params: { key } }) => {
        const { session, trace } = visitOf(request)
        await endSession(actingAs(door.platform, trace, session), trace, session, key)
        return key === session.sessionKey
          ? seeOther('/sign-in', [sessionCookie(door, '', 0)])
          : seeOther(`${accountPaths.sessions}?done=ended`)
      },
      { body: formFields({}) },
    )
    .post(
      accountPaths.endOthers,
      async ({ request }) => {
        const { session, trace } = visitOf(request)
        await endOtherSessions(actingAs(door.platform, trace, session), trace, session)
        return seeOther(`${accountPaths.sessions}?done=ended-others`)
      },
      { body: formFields({}) },
    )
