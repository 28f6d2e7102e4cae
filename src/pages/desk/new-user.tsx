import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import { generatedPassword, generatedPasswordBytes } from '../../domain/password.ts'
import type { Door } from '../../http/door.ts'
import { createUser } from '../../operations/users/create-user.ts'
import { inspectUser, type UserSummary } from '../../operations/users/find-user.ts'
import { Field, Form, Problem } from '../design/field.tsx'
import { Secret } from '../design/values.tsx'
import { answerForm, formOf, receiveFromOperator, secretText, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { showOnce, takeShown } from '../shown-once.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { onTheDesk, DeskPage, deskPaths, userPath } from './desk-page.tsx'

const newUserForm = formOf({ email: text, name: text, password: secretText })

/** What was typed, except the password, which is never shown again. */
type NewUserValues = { readonly email: string; readonly name: string }
const emptyValues: NewUserValues = { email: '', name: '' }

/** The form that creates a user, and the page that shows a generated password once. */
export const newUserRoutes = (door: Door) =>
  new Elysia()
    .get('/desk/users/:id/new-password', async ({ request, params: { id } }) => {
      const visit = await requireOperator(door, request)
      const user = await inspectUser(door.platform, id)
      const { value, cookies } = takeShown(visit)
      return page(<NewPasswordPage visit={visit} user={user} password={value} />, { cookies })
    })
    .get(deskPaths.newUser, async ({ request }) => showForm(await requireOperator(door, request), emptyValues, null))
    .post(deskPaths.newUser, async ({ request }) => await create(door, request))

const showForm = (visit: Visit, values: NewUserValues, error: PlatformError | null): Response =>
  page(
    <DeskPage title="Create a user" visit={visit} tab={deskPaths.users}>
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
        <Field
          label="Password"
          name="password"
          hint="Leave it empty to generate a strong password, which the next page shows once."
          error={error}
          input={{ type: 'password', autocomplete: 'new-password' }}
        />
        <p class="muted">Operator rights are given on the page of the user, where you confirm it.</p>
        <button type="submit" class="primary">
          Create the user
        </button>
      </Form>
    </DeskPage>,
    { refusal: error },
  )

/** A generated password is shown on a page of its own, once. A typed password is already known. */
const create = async (door: Door, request: Request): Promise<Response> => {
  const { visit, fields, ticket } = await receiveFromOperator(door, request, newUserForm)
  const { email, name, password: typed } = fields
  const values = { email, name }
  const password = typed === '' ? generatedPassword(door.platform.random.bytes(generatedPasswordBytes)) : typed
  return await answerForm(
    createUser(...onTheDesk(visit, undefined, ticket), { ...values, password, isOperator: false }),
    {
      done: (user) =>
        typed === ''
          ? showOnce(visit, newPasswordPath(user.id), password)
          : seeOther(`${userPath(user.id)}?done=created`),
      refused: (error) => showForm(visit, values, error),
      sentBefore: (error) => page(<SentBeforePage visit={visit} />, { refusal: error }),
    },
  )
}

/** Where a generated password of this user is shown. */
export const newPasswordPath = (userId: string): string => userPath(userId, 'new-password')

type NewPasswordPageProps = {
  readonly visit: Visit
  readonly user: Pick<UserSummary, 'id' | 'email' | 'name'>
  /** Null when it was shown before. */
  readonly password: string | null
}

/** The only page that shows a generated password. */
const NewPasswordPage = ({ visit, user, password }: NewPasswordPageProps) => (
  <DeskPage title="New password" belongsTo={user.email} visit={visit} tab={deskPaths.users}>
    {password === null ? (
      <p>
        There is no new password to show. Each one is shown once, right after it was generated. If you did not copy it,
        generate another one on the page of the user.
      </p>
    ) : (
      <>
        <p>
          <bdi>{user.name}</bdi> can sign in with {user.email} and this password. Give it to them in person or over a
          channel that you trust, and ask them to change it.
        </p>
        <Secret label="Password" value={password} />
      </>
    )}
    <p>
      <a href={userPath(user.id)}>{password === null ? 'Go to the user' : 'I have copied it: go to the user'}</a>
    </p>
  </DeskPage>
)

/** The answer to a form that was sent before. Its password was shown once and cannot be shown again. */
const SentBeforePage = ({ visit }: { readonly visit: Visit }) => (
  <DeskPage title="This form was sent before" visit={visit} tab={deskPaths.users}>
    <p>Nothing was done a second time. If the user was created, they are in the list.</p>
    <p>A generated password is shown only once. If you did not see it, open the user and generate a new password.</p>
    <p>
      <a href={deskPaths.users}>Go to the users</a> · <a href={deskPaths.newUser}>Open a new form</a>
    </p>
  </DeskPage>
)
