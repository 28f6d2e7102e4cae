import { sessionCookie } from '../../http/session-cookie.ts'
import { withPasswordLimit } from '../../http/sign-in-limit.ts'
import { actingAs } from '../../operations/acting-as.ts'
import { changePassword } from '../../operations/users/passwords.ts'
import { formPage, routes } from '../change.tsx'
import { PasswordField } from '../design/field.tsx'
import { Form, SendButton } from '../design/form.tsx'
import { formOf, secretText } from '../form.ts'
import { NewPasswordFields } from '../set-password.tsx'
import { page, seeOther } from '../page.ts'
import type { Visit } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'
import { signInWords } from '../sign-in-words.tsx'

const notices = { changed: 'Your password is changed, and every other session has ended.' } as const

const passwordForm = formOf({ current: secretText, password: secretText, repeated: secretText })

export const passwordRoutes = routes(() => [
  formPage(accountPaths.password, {
    by: 'user',
    effect: 'asks for the password itself',
    shareOf: 'session',
    form: passwordForm,
    show,
    act: async ({ visit, fields }) => {
      const { session, call: trace } = visit
      const { current, password: next, repeated } = fields
      // Guesses of the current password count for the session, with those where it is asked for again.
      const { sessionToken } = await withPasswordLimit(
        visit.door,
        trace,
        { account: session.user.email, knownAs: session.sessionKey },
        async (platform) =>
          await changePassword(actingAs(platform, trace, session), trace, session, { current, next, repeated }),
      )
      visit.door.platform.observe.issued('session')
      return seeOther(`${accountPaths.password}?done=changed`, [sessionCookie(visit.door, sessionToken)])
    },
  }),
])

/** Passwords are never sent back: after a refusal the person types all three again. */
const show = (visit: Visit): Response => {
  if (!visit.session.user.hasPassword) return showNone(visit)
  return page(
    <AccountPage
      title="Change password"
      about="You stay signed in here, and all your other sessions end at once."
      visit={visit}
      tab={accountPaths.password}
      notices={notices}
    >
      <Form action={accountPaths.password} visit={visit} class="measure">
        {/* Tells password managers whose password this is. */}
        <input type="text" name="username" autocomplete="username" value={visit.session.user.email} readOnly hidden />
        <PasswordField label="Current password" name="current" />
        <NewPasswordFields />
        <p class="muted">
          Connected apps stay connected, because they never knew your password. If somebody else has used your account,
          check <a href={accountPaths.apps}>your connected apps</a> as well.
        </p>
        <SendButton>Change password</SendButton>
      </Form>
    </AccountPage>,
  )
}

/** For people who sign in through the builder or an identity provider. */
const showNone = (visit: Visit): Response =>
  page(
    <AccountPage title="Password" visit={visit} tab={accountPaths.password}>
      <p>Your account has no password on this server. You sign in with {signInWords(visit).first}.</p>
    </AccountPage>,
  )
