import type { PlatformError } from '../../domain/errors.ts'
import { emailLinkPath } from '../../domain/password.ts'
import { secretIn } from '../../domain/secret.ts'
import type { Door } from '../../http/door.ts'
import { hold } from '../../http/limits.ts'
import { inspectUser } from '../../operations/users/find-user.ts'
import { askForEmail, openPasswordLink, useEmailLink } from '../../operations/users/passwords.ts'
import { email, Fields } from '../design/field.tsx'
import { changedByVisitor, formPage, openPage, routes } from '../change.tsx'
import { Form, SendButton } from '../design/form.tsx'
import { Layout, wordsPage } from '../design/shell.tsx'
import { textOf, outcomeOf, answerForm, formOf, secretText } from '../form.ts'
import type { Values } from '../kept-form.ts'
import { page, seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { choiceParameter, parametersOf } from '../query.ts'
import { type Visit, type Visitor, visitorOf } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'

const notices = {
  asked: 'We have sent a link to the new address. Your address changes when you confirm it there.',
} as const
const emailForm = formOf({
  email: email('New email address', {
    autocomplete: 'email',
    hint: 'We send a link to this address. Your address changes when you confirm it there. We also notify the old address.',
  }),
})
const confirmForm = formOf({ link: secretText }, ['link'])

/** Changes the own address: a form, and the page that the link in the mail to the new address opens. */
export const emailRoutes = routes(() => [
  formPage(accountPaths.email, {
    by: 'user',
    effect: 'gives a way to sign in',
    isPartOfPage: true,
    form: emailForm,
    show,
    act: async ({ visit, fields }) => {
      if (visit.door.platform.mailer === null) return 'again'
      hold(visit.call, visit.door.limiter.take('code', `email ${visit.userId}`)) // or it could flood mailboxes of others
      await visit.asOwner().do(askForEmail, fields.email)
      return seeOther(`${accountPaths.email}?done=asked`)
    },
  }),
  openPage(emailLinkPath, async (door, request) => {
    if (choiceParameter(request, 'done', ['set'] as const) !== null) return showDone(door)
    return await showConfirmation(visitorOf(door, request), parametersOf(request))
  }),
  changedByVisitor(emailLinkPath, {
    form: confirmForm,
    show: showConfirmation,
    act: async ({ visitor, fields }) => {
      const used = await outcomeOf(useEmailLink(visitor.door.platform, visitor.call, fields.link))
      return used.kind === 'refused' ? showDead(visitor.door, used.error) : seeOther(`${emailLinkPath}?done=set`)
    },
  }),
])

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const user = await inspectUser(platform, visit.userId)
  const setBy =
    user.externalId !== null
      ? 'It comes from your account at the builder.'
      : platform.mailer === null
        ? 'Only the operator of this server can change it.'
        : null
  return page(
    <AccountPage title="Email address" visit={visit} tab={accountPaths.email} notices={notices}>
      <p>
        Your address is <bdi>{user.email}</bdi>. {setBy}
      </p>
      {setBy === null ? (
        <Form action={accountPaths.email} visit={visit} class="measure" asks={proveFirst(visit)}>
          <Fields of={emailForm} />
          <SendButton>Send the link</SendButton>
        </Form>
      ) : null}
    </AccountPage>,
  )
}

/** The address of the page has the secret, so no other page may learn it. */
const showConfirmation = async (visitor: Visitor, sent: Values) => {
  const { door, call, cookies } = visitor
  const link = secretIn('passwordLink', textOf(sent['link']))
  return await answerForm(openPasswordLink(door.platform, call, link, emailLinkPath), {
    done: ({ user, row }) =>
      page(
        <Layout title="Confirm your address" visit={visitor} width="narrow">
          <p>
            The account <bdi>{user.email}</bdi> gets the address <bdi>{row.email}</bdi>. You sign in with it from then
            on.
          </p>
          <Form action={emailLinkPath} visit={visitor} bound={[link]}>
            <input type="hidden" name="link" value={link} />
            <SendButton>Confirm</SendButton>
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
    says: `${error.message} If you have confirmed the address with it, it is yours. Otherwise nothing has changed: sign in and request a new link under Account.`,
    to: [accountPaths.email, 'Email address'],
    options: { refusal: error, status: 410, hidesAddress: true },
  })

const showDone = (door: Door): Response =>
  wordsPage(door.platform, {
    title: 'Your address is changed',
    says: 'From now on, sign in with the new address. We have notified the old one.',
    to: [accountPaths.overview, 'Go to your account'],
  })
