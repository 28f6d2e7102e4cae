import { hasPasswordForm } from '../domain/sign-in-rules.ts'
import type { Door } from '../http/door.ts'
import { withLinkLimit } from '../http/sign-in-limit.ts'
import { askForLink } from '../operations/users/passwords.ts'
import { changedByVisitor, openPage, routes } from './change.tsx'
import { email, Fields } from './design/field.tsx'
import { Form, SendButton } from './design/form.tsx'
import { Layout, wordsPage } from './design/shell.tsx'
import { formOf } from './form.ts'
import { page, seeOther } from './page.ts'
import { choiceParameter } from './query.ts'
import { type Visitor, visitorOf } from './visit.ts'

export const forgotPasswordPath = '/forgot-password'

/** Whether people can get a link to set a password by mail. */
export const mailsLinks = ({ platform: { mailer, signIn } }: Door): boolean =>
  mailer !== null && hasPasswordForm(signIn)

const forgotForm = formOf({ email: email('Email address', { autocomplete: 'username' }) })

/** Mails a link to somebody who has forgotten their password. The answer is the same for every address. */
export const forgotPasswordRoutes = routes(() => [
  openPage(forgotPasswordPath, async (door, request) => {
    const isDone = mailsLinks(door) && choiceParameter(request, 'done', ['asked'] as const) !== null
    return isDone ? showAsked(door) : show(visitorOf(door, request))
  }),
  changedByVisitor(forgotPasswordPath, {
    form: forgotForm,
    show,
    act: async ({ visitor: { door, call }, fields: { email } }) => {
      if (!mailsLinks(door)) return 'again'
      await withLinkLimit(door, call, email, async () => await askForLink(door.platform, call, email))
      return seeOther(`${forgotPasswordPath}?done=asked`)
    },
  }),
])

const show = (visitor: Visitor): Response => (mailsLinks(visitor.door) ? showForm(visitor) : showNoMail(visitor.door))

const showForm = (visitor: Visitor): Response =>
  page(
    <Layout title="Forgot your password?" visit={visitor} width="narrow">
      <p>We send a link to your email address. It lets you set a new password.</p>
      <Form action={forgotPasswordPath} visit={visitor}>
        <Fields of={forgotForm} />
        <SendButton>Send the link</SendButton>
      </Form>
      <p>
        <a href="/sign-in">Back to sign-in</a>
      </p>
    </Layout>,
    { cookies: visitor.cookies },
  )

const toSignIn = ['/sign-in', 'Back to sign-in'] as const

const showNoMail = (door: Door): Response =>
  wordsPage(door.platform, {
    title: 'Forgot your password?',
    says: 'This server does not send email. Ask its operator for a link to set a new password.',
    to: toSignIn,
  })

const showAsked = (door: Door): Response =>
  wordsPage(door.platform, {
    title: 'Check your email',
    says: 'If an account with a password has this address, an email with a link is on its way. The link works once, for 24 hours.',
    to: toSignIn,
    more: (
      <p class="muted">
        No email after some minutes? Look in your spam folder. If you have asked before, use the newest email: it still
        works. Otherwise ask the operator of this server.
      </p>
    ),
  })
