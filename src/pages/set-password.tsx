import { PlatformError } from '../domain/errors.ts'
import { noPassword } from '../domain/password.ts'
import { passwordLinkPath } from '../domain/password-link.ts'
import { parseSecret } from '../domain/secret.ts'
import { callOf } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { inLineForHashing } from '../http/sign-in-limit.ts'
import { openPasswordLink, usePasswordLink } from '../operations/users/passwords.ts'
import { Problem } from './design/field.tsx'
import { Form } from './design/form.tsx'
import { Layout } from './design/shell.tsx'
import { answerForm, fieldsOf, formOf, readValues, secretText, ticketKey } from './form.ts'
import { forgotPasswordPath, mailsLinks } from './forgot-password.tsx'
import { NewPasswordFields } from './new-password.tsx'
import { page, seeOther } from './page.ts'
import { choiceParameter } from './query.ts'
import { visitorOf } from './visit.ts'
import { Elysia } from 'elysia'

const setPasswordForm = formOf({ link: secretText, password: secretText, repeated: secretText }, ['link'])

/** The page that an invitation or a reset link opens. Opening it changes nothing. */
export const setPasswordRoutes = (door: Door) =>
  new Elysia()
    .get(passwordLinkPath, async ({ request }) => {
      if (choiceParameter(request, 'done', ['set'] as const) !== null) return showDone(door)
      return await showForm(door, request, new URL(request.url).searchParams.get('link') ?? '', null)
    })
    .post(passwordLinkPath, async ({ request }) => await receive(door, request))

const receive = async (door: Door, request: Request): Promise<Response> => {
  const call = callOf(request)
  const values = await readValues(call, setPasswordForm)
  const { link, password, repeated } = fieldsOf(setPasswordForm, values)
  const again = async (error: PlatformError) => await showForm(door, request, link, error)
  const ticket = ticketKey(door, call, visitorOf(door, request).tickets, setPasswordForm, values)
  if (ticket instanceof PlatformError) return await again(ticket)
  const place = { account: `link ${parseSecret('passwordLink', link)?.key ?? ''}`, knownAs: async () => null }
  const use = inLineForHashing(
    door,
    call,
    place,
    async (platform) => await usePasswordLink(platform, call, { link, password, repeated }),
  )
  return await answerForm(use, {
    done: () => seeOther(`${passwordLinkPath}?done=set`),
    refused: async (error) => (error.code === 'version_not_eligible' ? showDead(door, error) : await again(error)),
  })
}

/** The address of the page has the secret, so no other page may learn it. */
const showForm = async (door: Door, request: Request, link: string, error: PlatformError | null): Promise<Response> => {
  const { tickets, cookies } = visitorOf(door, request)
  const { platform } = door
  return await answerForm(openPasswordLink(platform, callOf(request), link), {
    done: ({ user }) =>
      page(
        <Layout title="Set your password" visit={{ platformName: platform.platformName }} width="narrow">
          <Problem error={error} />
          <p>
            You then sign in with <bdi>{user.email}</bdi> and this password.
            {user.passwordHash === noPassword ? '' : ' All your earlier sessions end.'}
          </p>
          <Form action={passwordLinkPath} visit={{ tickets }} bound={[link]}>
            {/* Tells password managers whose password this is. */}
            <input type="text" name="username" autocomplete="username" value={user.email} readOnly hidden />
            <input type="hidden" name="link" value={link} />
            <NewPasswordFields error={error} />
            <button type="submit" class="primary">
              Set the password
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
        The link was used, is older than 24 hours, or was replaced by a newer one, or the password has changed since.
        Nothing has changed.{' '}
        {mailsLinks(door) ? (
          <a href={forgotPasswordPath}>Request a new link by email</a>
        ) : (
          'Ask the operator who gave it to you for a new link'
        )}
        .
      </p>
      <p>
        <a href="/sign-in">Sign in</a>
      </p>
    </Layout>,
    { refusal: error, status: 410, hidesAddress: true },
  )

const showDone = (door: Door): Response =>
  page(
    <Layout title="Your password is set" visit={{ platformName: door.platform.platformName }} width="narrow">
      <p>Sign in with it now. The link no longer works.</p>
      <p>
        <a class="button primary" href="/sign-in">
          Sign in
        </a>
      </p>
    </Layout>,
  )
