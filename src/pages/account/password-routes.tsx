import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { callOf } from '../../http/call.ts'
import { sessionCookie } from '../../http/session-cookie.ts'
import { withSignInLimit } from '../../http/sign-in-limit.ts'
import { actingAs } from '../../operations/acting-as.ts'
import { changePassword } from '../../operations/users/passwords.ts'
import { formFields, forms } from '../form.ts'
import { noticeOf } from '../notice.ts'
import { outcomeOf } from '../outcome.ts'
import { page, seeOther } from '../page.ts'
import { signedIn, visitOf } from '../visit.ts'
import { PasswordPage } from './password-page.tsx'
import { accountPaths } from './paths.ts'

const notices = { changed: 'Your password has been changed, and every other session has ended.' } as const

const fields = formFields({ current: Type.String(), password: Type.String(), repeated: Type.String() })

export const passwordRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .get(accountPaths.password, async ({ request }) => {
      const notice = noticeOf(door, request, notices)
      return page(<PasswordPage visit={visitOf(request)} notice={notice} error={null} />)
    })
    .post(
      accountPaths.password,
      async ({ request, body: { current, password, repeated } }) => {
        const visit = visitOf(request)
        const { session, trace } = visit
        // The current password is guessed here as well as at the door: both count together.
        const outcome = await outcomeOf(
          withSignInLimit(
            door,
            callOf(request),
            { email: session.user.email, knownAs: async () => session.sessionKey },
            async (platform) =>
              await changePassword(actingAs(platform, trace, session), trace, session, {
                current,
                next: password,
                repeated,
              }),
          ),
        )
        if (outcome.kind === 'refused') {
          const { error } = outcome
          return page(<PasswordPage visit={visit} notice={null} error={error} />, { refusal: error })
        }
        door.platform.observe.issued('session')
        const cookie = sessionCookie(door, outcome.value.sessionToken, door.platform.lifetimes.session)
        return seeOther(`${accountPaths.password}?done=changed`, [cookie])
      },
      { body: fields },
    )
