import type { PlatformError } from '../domain/errors.ts'
import { noPassword, passwordLinkPath } from '../domain/password.ts'
import { parseSecret, secretIn } from '../domain/secret.ts'
import type { Door } from '../http/door.ts'
import { inLineForHashing, signInHere } from '../http/sign-in-limit.ts'
import { openPasswordLink, usePasswordLink } from '../operations/users/passwords.ts'
import { changedByVisitor, openPage, routes, type VisitorSubmission } from './change.tsx'
import { Form, SendButton } from './design/form.tsx'
import { Layout, wordsPage } from './design/shell.tsx'
import { answerForm, formOf, outcomeOf, secretText, textOf } from './form.ts'
import type { Values } from './kept-form.ts'
import { forgotPasswordPath, mailsLinks } from './forgot-password.tsx'
import { page, seeOther } from './page.ts'
import { goOn } from './second-step.tsx'
import { choiceParameter, parametersOf } from './query.ts'
import { type Visitor, visitorOf } from './visit.ts'
import { Field } from './design/field.tsx'

const setPasswordForm = formOf({ link: secretText, password: secretText, repeated: secretText }, ['link'])

/** The page that an invitation or a reset link opens. Opening it changes nothing. */
export const setPasswordRoutes = routes(() => [
  openPage(passwordLinkPath, async (door, request) => {
    if (choiceParameter(request, 'done', ['set'] as const) !== null) return showDone(door)
    return await showForm(visitorOf(door, request), parametersOf(request))
  }),
  changedByVisitor(passwordLinkPath, { form: setPasswordForm, show: showForm, act: setPassword }),
])

const setPassword = async ({ visitor: { door, call }, fields }: VisitorSubmission<typeof setPasswordForm>) => {
  const { link, password, repeated } = fields
  const place = { account: `link ${parseSecret('passwordLink', link)?.key ?? ''}`, knownAs: null }
  const { email } = await inLineForHashing(
    door,
    call,
    place,
    async (platform) => await usePasswordLink(platform, call, { link, password, repeated }),
  )
  // The same as on the sign-in page: a second factor is still asked for. If it is refused, the password is set all the same.
  const entry = await outcomeOf(signInHere(door, call, { email, password }))
  return entry.kind === 'done'
    ? await goOn(door, call.request, entry.value, '/')
    : seeOther(`${passwordLinkPath}?done=set`)
}

/** The address of the page has the secret, so no other page may learn it. */
const showForm = async (visitor: Visitor, sent: Values): Promise<Response> => {
  const { door, call, cookies } = visitor
  const link = secretIn('passwordLink', textOf(sent['link']))
  return await answerForm(openPasswordLink(door.platform, call, link), {
    done: ({ user }) =>
      page(
        <Layout title="Set your password" visit={visitor} width="narrow">
          <p>
            You are then signed in. From then on you sign in with <bdi>{user.email}</bdi> and this password.
            {user.passwordHash === noPassword ? '' : ' All your earlier sessions end.'}
          </p>
          <Form action={passwordLinkPath} visit={visitor} bound={[link]}>
            {/* Tells password managers whose password this is. */}
            <input type="text" name="username" autocomplete="username" value={user.email} readOnly hidden />
            <input type="hidden" name="link" value={link} />
            <NewPasswordFields />
            <SendButton>Set the password</SendButton>
          </Form>
        </Layout>,
        { cookies, hidesAddress: true },
      ),
    refused: (dead) => showDead(door, dead),
  })
}

const showDead = (door: Door, error: PlatformError): Response =>
  wordsPage(door.platform, {
    title: 'This link does not work',
    says: (
      <>
        {error.message} If you have set your password with it, sign in. Otherwise nothing has changed:{' '}
        {mailsLinks(door) ? (
          <a href={forgotPasswordPath}>request a new link by email</a>
        ) : (
          'ask the operator who gave it to you for a new link'
        )}
        .
      </>
    ),
    to: ['/sign-in', 'Sign in'],
    options: { refusal: error, status: 410, hidesAddress: true },
  })

const showDone = (door: Door): Response =>
  wordsPage(door.platform, {
    title: 'Your password is set',
    says: 'Sign in with it now. The link no longer works.',
    to: ['/sign-in', 'Sign in'],
  })

/** The fields for a new password. It is never sent back: after a refusal the person types it again. */
export const NewPasswordFields = () => (
  <>
    <Field
      label="New password"
      name="password"
      hint="At least 8 characters. A few unrelated words make a good password."
      input={newPassword}
    />
    <Field label="Repeat the new password" name="repeated" input={newPassword} />
  </>
)

const newPassword = { type: 'password', autocomplete: 'new-password', required: true, maxLength: 1024 } as const
