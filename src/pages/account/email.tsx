import { Elysia } from 'elysia'
import { PlatformError } from '../../domain/errors.ts'
import { emailLinkPath } from '../../domain/password-link.ts'
import { callOf } from '../../http/call.ts'
import type { Door } from '../../http/door.ts'
import { hold } from '../../http/limits.ts'
import { inspectUser } from '../../operations/users/find-user.ts'
import { askForEmail, openPasswordLink, useEmailLink } from '../../operations/users/passwords.ts'
import { Field, Problem } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { Layout } from '../design/shell.tsx'
import { answerForm, fieldsOf, formOf, readValues, receiveFromUser, secretText, text, ticketKey } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { choiceParameter } from '../query.ts'
import { requireVisit, type Visit, visitorOf } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'

const notices = {
  asked: 'We have sent a link to the new address. Your address changes when you confirm it there.',
} as const
const emailForm = formOf({ email: text })
const confirmForm = formOf({ link: secretText }, ['link'])

/** Changes the own address: a form, and the page that the link in the mail to the new address opens. */
export const emailRoutes = (door: Door) =>
  new Elysia()
    .get(accountPaths.email, async ({ request }) => await show(await requireVisit(door, request), '', null))
    .post(accountPaths.email, async ({ request }) => {
      const { visit, fields } = await receiveFromUser(door, request, emailForm, 'asked')
      if (door.platform.mailer === null) return await show(visit, '', null)
      hold(visit.call, door.limiter.take('code', `email ${visit.userId}`)) // or it could flood mailboxes of others
      return await answerForm(visit.asOwner().do(askForEmail, fields.email), {
        done: () => seeOther(`${accountPaths.email}?done=asked`),
        refused: async (error) => await show(visit, fields.email, error),
      })
    })
    .get(emailLinkPath, async ({ request }) => {
      if (choiceParameter(request, 'done', ['set'] as const) !== null) return showDone(door)
      return await showConfirmation(door, request, new URL(request.url).searchParams.get('link') ?? '', null)
    })
    .post(emailLinkPath, async ({ request }) => await confirm(door, request))

const show = async (visit: Visit, email: string, error: PlatformError | null): Promise<Response> => {
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
      <Problem error={error} />
      <p>
        Your address is <bdi>{user.email}</bdi>. {setBy}
      </p>
      {setBy === null ? (
        <Form action={accountPaths.email} visit={visit} class="measure" asks={proveFirst(visit)}>
          <Field
            label="New email address"
            name="email"
            hint="We send a link to this address. Your address changes when you confirm it there. We also notify the old address."
            error={error}
            input={{ type: 'email', autocomplete: 'email', required: true, maxLength: 254, value: email }}
          />
          <button type="submit" class="primary">
            Send the link
          </button>
        </Form>
      ) : null}
    </AccountPage>,
    { refusal: error },
  )
}

const confirm = async (door: Door, request: Request): Promise<Response> => {
  const call = callOf(request)
  const values = await readValues(call, confirmForm)
  const { link } = fieldsOf(confirmForm, values)
  const ticket = ticketKey(door, call, visitorOf(door, request).tickets, confirmForm, values)
  if (ticket instanceof PlatformError) return await showConfirmation(door, request, link, ticket)
  return await answerForm(useEmailLink(door.platform, call, link), {
    done: () => seeOther(`${emailLinkPath}?done=set`),
    refused: (error) => showDead(door, error),
  })
}

/** The address of the page has the secret, so no other page may learn it. */
const showConfirmation = async (door: Door, request: Request, link: string, error: PlatformError | null) => {
  const { tickets, cookies } = visitorOf(door, request)
  const opened = openPasswordLink(door.platform, callOf(request), link, emailLinkPath)
  return await answerForm(opened, {
    done: ({ user, row }) =>
      page(
        <Layout title="Confirm your address" visit={{ platformName: door.platform.platformName }} width="narrow">
          <Problem error={error} />
          <p>
            The account <bdi>{user.email}</bdi> gets the address <bdi>{row.email}</bdi>. You sign in with it from then
            on.
          </p>
          <Form action={emailLinkPath} visit={{ tickets }} bound={[link]}>
            <input type="hidden" name="link" value={link} />
            <button type="submit" class="primary">
              Confirm
            </button>
          </Form>
        </Layout>,
        { refusal: error, cookies, hidesAddress: true },
      ),
    refused: (dead) => showDead(door, dead),
  })
}

const showDead = (door: Door, error: PlatformError): Response =>
  page(
    <Layout title="This link does not work" visit={{ platformName: door.platform.platformName }} width="narrow">
      <p>
        The link was used, is older than 24 hours, or was replaced by a newer one, or another account has the address.
        Nothing has changed. Sign in and request a new link under Account.
      </p>
      <p>
        <a href={accountPaths.email}>Email address</a>
      </p>
    </Layout>,
    { refusal: error, status: 410, hidesAddress: true },
  )

const showDone = (door: Door): Response =>
  page(
    <Layout title="Your address is changed" visit={{ platformName: door.platform.platformName }} width="narrow">
      <p>From now on, sign in with the new address. We have notified the old one.</p>
      <p>
        <a class="button primary" href={accountPaths.overview}>
          Go to your account
        </a>
      </p>
    </Layout>,
  )
