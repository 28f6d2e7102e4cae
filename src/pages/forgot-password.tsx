import { PlatformError } from '../domain/errors.ts'
import { hasPasswordForm } from '../domain/sign-in-rules.ts'
import { callOf } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { withLinkLimit } from '../http/sign-in-limit.ts'
import { askForLink } from '../operations/users/passwords.ts'
import { Field, Problem } from './design/field.tsx'
import { Form } from './design/form.tsx'
import { Layout } from './design/shell.tsx'
import { answerForm, fieldsOf, formOf, readValues, text, ticketKey } from './form.ts'
import { page, seeOther } from './page.ts'
import { choiceParameter } from './query.ts'
import { visitorOf } from './visit.ts'
import { Elysia } from 'elysia'

export const forgotPasswordPath = '/forgot-password'

/** Whether people can get a link to set a password by mail. */
export const mailsLinks = ({ platform: { mailer, signIn } }: Door): boolean =>
  mailer !== null && hasPasswordForm(signIn)

const forgotForm = formOf({ email: text })

/** Mails a link to somebody who has forgotten their password. The answer is the same for every address. */
export const forgotPasswordRoutes = (door: Door) =>
  new Elysia()
    .get(forgotPasswordPath, async ({ request }) => {
      if (!mailsLinks(door)) return showNoMail(door)
      const isDone = choiceParameter(request, 'done', ['asked'] as const) !== null
      return isDone ? showAsked(door) : showForm(door, request, '', null)
    })
    .post(forgotPasswordPath, async ({ request }) =>
      mailsLinks(door) ? await receive(door, request) : showNoMail(door),
    )

const receive = async (door: Door, request: Request): Promise<Response> => {
  const call = callOf(request)
  const values = await readValues(call, forgotForm)
  const { email } = fieldsOf(forgotForm, values)
  const again = (error: PlatformError) => showForm(door, request, email, error)
  const ticket = ticketKey(door, call, visitorOf(door, request).tickets, forgotForm, values)
  if (ticket instanceof PlatformError) return again(ticket)
  return await answerForm(
    withLinkLimit(door, call, email, async () => await askForLink(door.platform, call, email)),
    { done: () => seeOther(`${forgotPasswordPath}?done=asked`), refused: again },
  )
}

const showForm = (door: Door, request: Request, email: string, error: PlatformError | null): Response => {
  const { tickets, cookies } = visitorOf(door, request)
  return page(
    <Layout title="Forgot your password?" visit={{ platformName: door.platform.platformName }} width="narrow">
      <Problem error={error} />
      <p>We send a link to your email address. It lets you set a new password.</p>
      <Form action={forgotPasswordPath} visit={{ tickets }}>
        <Field
          label="Email address"
          name="email"
          error={error}
          input={{ type: 'email', autocomplete: 'username', required: true, maxLength: 254, value: email }}
        />
        <button type="submit" class="primary">
          Send the link
        </button>
      </Form>
      <p>
        <a href="/sign-in">Back to sign-in</a>
      </p>
    </Layout>,
    { refusal: error, cookies },
  )
}

const showNoMail = (door: Door): Response =>
  page(
    <Layout title="Forgot your password?" visit={{ platformName: door.platform.platformName }} width="narrow">
      <p>This server does not send email. Ask its operator for a link to set a new password.</p>
      <p>
        <a href="/sign-in">Back to sign-in</a>
      </p>
    </Layout>,
  )

const showAsked = (door: Door): Response =>
  page(
    <Layout title="Check your email" visit={{ platformName: door.platform.platformName }} width="narrow">
      <p>
        If an account with a password has this address, an email with a link is on its way. The link works once, for 24
        hours.
      </p>
      <p class="muted">
        No email after some minutes? Look in your spam folder. If you have asked before, use the newest email: it still
        works. Otherwise ask the operator of this server.
      </p>
      <p>
        <a href="/sign-in">Back to sign-in</a>
      </p>
    </Layout>,
  )
