import type { PlatformError } from '../../../domain/errors.ts'
import { Field, Form, Problem } from '../../components/form.tsx'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { deskPaths } from '../paths.ts'

/** What was typed, but for a password: that is never shown again. */
export type NewUserValues = { readonly email: string; readonly name: string; readonly isOperator: boolean }
type NewUserPageProps = {
  readonly visit: Visit
  readonly values: NewUserValues
  readonly error: PlatformError | null
}

export const NewUserPage = ({ visit, values, error }: NewUserPageProps) => (
  <DeskPage title="Create a user" visit={visit} tab={deskPaths.users}>
    <Problem error={error} />
    <Form action={deskPaths.newUser} visit={visit} class="measure">
      <Field
        label="Email address"
        name="email"
        hint="What they sign in with. It cannot be changed."
        error={error}
        input={{ type: 'email', value: values.email, required: true, maxLength: 254, autocomplete: 'off' }}
      />
      <Field
        label="Name"
        name="name"
        hint="What people see."
        error={error}
        input={{ value: values.name, required: true, maxLength: 200, autocomplete: 'off' }}
      />
      <Field
        label="Password"
        name="password"
        hint="Leave it empty for a strong one, which is shown once on the next page."
        error={error}
        input={{ type: 'password', autocomplete: 'new-password' }}
      />
      <div class="field">
        <input type="checkbox" id="operator" name="operator" value="yes" checked={values.isOperator} />
        <label for="operator">Operator: may use this desk</label>
      </div>
      <button type="submit">Create the user</button>
    </Form>
  </DeskPage>
)
