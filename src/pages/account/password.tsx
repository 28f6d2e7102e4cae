import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import { callOf } from '../../http/call.ts'
import type { Door } from '../../http/door.ts'
import { sessionCookie } from '../../http/session-cookie.ts'
import { withSignInLimit } from '../../http/sign-in-limit.ts'
import { actingAs } from '../../operations/acting-as.ts'
import { changePassword } from '../../operations/users/passwords.ts'
import { Field, Form, Problem } from '../components/form.tsx'
import { answerForm, formOf, receiveFromUser, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { noticeFor } from '../query.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'

const notices = { changed: 'Your password is changed, and every other session has ended.' } as const

const passwordForm = formOf({ current: text, password: text, repeated: text })

export const passwordRoutes = (door: Door) =>
  new Elysia()
    .get(accountPaths.password, async ({ request }) => {
      const visit = await requireVisit(door, request)
      return page(<PasswordPage visit={visit} notice={noticeFor(visit, notices)} error={null} />)
    })
    .post(accountPaths.password, async ({ request }) => {
      const { visit, fields } = await receiveFromUser(door, request, passwordForm)
      const { session, call: trace } = visit
      const { current, password: next, repeated } = fields
      // Guesses of the current password count together with guesses on the sign-in page.
      const change = withSignInLimit(
        door,
        callOf(request),
        { email: session.user.email, knownAs: async () => session.sessionKey },
        async (platform) =>
          await changePassword(actingAs(platform, trace, session), trace, session, { current, next, repeated }),
      )
      return await answerForm(change, {
        done: ({ sessionToken }) => {
          door.platform.observe.issued('session')
          const cookie = sessionCookie(door, sessionToken, door.platform.lifetimes.session)
          return seeOther(`${accountPaths.password}?done=changed`, [cookie])
        },
        refused: (error) => page(<PasswordPage visit={visit} notice={null} error={error} />, { refusal: error }),
      })
    })

type PasswordPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly error: PlatformError | null
}

/** Passwords are never sent back: after a refusal the person types all three again. */
const PasswordPage = ({ visit, notice, error }: PasswordPageProps) => (
  <AccountPage title="Change password" visit={visit} tab={accountPaths.password} notice={notice}>
    <Problem error={error} />
    <Form action={accountPaths.password} visit={visit} class="measure">
      {/* Tells password managers whose password this is. */}
      <input type="text" name="username" autocomplete="username" value={visit.session.user.email} readOnly hidden />
      <Field
        label="Current password"
        name="current"
        error={error}
        input={{ type: 'password', autocomplete: 'current-password', required: true, maxLength: 1024 }}
      />
      <Field
        label="New password"
        name="password"
        hint="At least 8 characters. A few unrelated words make a good password."
        error={error}
        input={{ type: 'password', autocomplete: 'new-password', required: true, maxLength: 1024 }}
      />
      <Field
        label="Repeat the new password"
        name="repeated"
        error={error}
        input={{ type: 'password', autocomplete: 'new-password', required: true, maxLength: 1024 }}
      />
      <p>
        You stay signed in here, and all your other sessions end at once. Connected apps stay connected, because they
        never knew your password. If somebody else has used your account, check{' '}
        <a href={accountPaths.apps}>your connected apps</a> as well.
      </p>
      <button type="submit">Change password</button>
    </Form>
  </AccountPage>
)
