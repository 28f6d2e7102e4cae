import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { inspectUser, type UserSummary } from '../../operations/users/find-user.ts'
import { inviteUser } from '../../operations/users/password-links.ts'
import { Field, Problem } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { ShownOnce } from '../design/values.tsx'
import { answerForm, formOf, receiveFromOperator, text } from '../form.ts'
import { page } from '../page.ts'
import { showOnce, takeShown } from '../shown-once.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { onTheDesk, DeskPage, deskPaths, userPath } from './desk-page.tsx'

const newUserForm = formOf({ email: text, name: text })

type NewUserValues = { readonly email: string; readonly name: string }
const emptyValues: NewUserValues = { email: '', name: '' }

/** The form that invites a user, and the page that shows a link once. */
export const newUserRoutes = (door: Door) =>
  new Elysia()
    .get('/desk/users/:id/new-link', async ({ request, params: { id } }) => {
      const visit = await requireOperator(door, request)
      const user = await inspectUser(door.platform, id)
      const { value, cookies } = takeShown(visit)
      return page(<NewLinkPage visit={visit} user={user} link={value} />, { cookies })
    })
    .get(deskPaths.newUser, async ({ request }) => showForm(await requireOperator(door, request), emptyValues, null))
    .post(deskPaths.newUser, async ({ request }) => await create(door, request))

const showForm = (visit: Visit, values: NewUserValues, error: PlatformError | null): Response =>
  page(
    <DeskPage title="Invite a user" visit={visit} tab={deskPaths.users}>
      <Problem error={error} />
      <Form action={deskPaths.newUser} visit={visit} class="measure">
        <Field
          label="Email address"
          name="email"
          hint="The user signs in with it. You can change it later."
          error={error}
          input={{ type: 'email', value: values.email, required: true, maxLength: 254, autocomplete: 'off' }}
        />
        <Field
          label="Name"
          name="name"
          hint="Other people see this name."
          error={error}
          input={{ value: values.name, required: true, maxLength: 200, autocomplete: 'off' }}
        />
        <p class="muted">
          The next page shows a link that lets the user set a password
          {visit.door.platform.mailer === null ? '' : ', and they also receive one by email'}. You can grant operator
          rights on the page of the user.
        </p>
        <button type="submit" class="primary">
          Create the invitation
        </button>
      </Form>
    </DeskPage>,
    { refusal: error },
  )

const create = async (door: Door, request: Request): Promise<Response> => {
  const { visit, fields, ticket } = await receiveFromOperator(door, request, newUserForm)
  const values = { email: fields.email, name: fields.name }
  return await answerForm(inviteUser(...onTheDesk(visit, undefined, ticket), { ...values, isOperator: false }), {
    done: ({ user, link }) => showOnce(visit, newLinkPath(user.id), link),
    refused: (error) => showForm(visit, values, error),
    sentBefore: (error) => page(<SentBeforePage visit={visit} />, { refusal: error }),
  })
}

/** Where a new link of this user is shown. */
export const newLinkPath = (userId: string): string => userPath(userId, 'new-link')

type NewLinkPageProps = {
  readonly visit: Visit
  readonly user: Pick<UserSummary, 'id' | 'email' | 'name'>
  /** Null when it was shown before. */
  readonly link: string | null
}

/** The only page that shows a link to set a password. */
const NewLinkPage = ({ visit, user, link }: NewLinkPageProps) => (
  <DeskPage
    title="Link to set a password"
    belongsTo={user.email}
    crumbs={[{ href: userPath(user.id), name: user.name, avatarId: user.id }]}
    visit={visit}
    tab={deskPaths.users}
  >
    <ShownOnce
      value={link}
      what="link"
      label="Link"
      advice="create another one on the page of the user"
      back={{ href: userPath(user.id), name: 'the user' }}
    >
      <p>
        Send this link to <bdi>{user.name}</bdi> over a channel that you trust. It lets them set a password and then
        sign in with {user.email}. It works once, for 24 hours.
      </p>
      {visit.door.platform.mailer === null ? null : (
        <p>An email with another link is also on its way to {user.email}. Both links work until one of them is used.</p>
      )}
    </ShownOnce>
  </DeskPage>
)

/** The answer to a form that was sent before. Its link was shown once and cannot be shown again. */
const SentBeforePage = ({ visit }: { readonly visit: Visit }) => (
  <DeskPage title="This form was sent before" visit={visit} tab={deskPaths.users}>
    <p>Nothing was done a second time. If the user was created, they are in the list.</p>
    <p>A link is shown only once. If you did not see it, open the user and create a reset link.</p>
    <p>
      <a href={deskPaths.users}>Go to the users</a> · <a href={deskPaths.newUser}>Open a new form</a>
    </p>
  </DeskPage>
)
