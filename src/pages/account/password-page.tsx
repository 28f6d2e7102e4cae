import type { PlatformError } from '../../domain/errors.ts'
import { Field } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { Problem } from '../components/problem.tsx'
import type { Visit } from '../visit.ts'
import { AccountPage } from './account-page.tsx'
import { accountPaths } from './paths.ts'

type PasswordPageProps = {
  readonly visit: Visit
  readonly notice: string | null
  readonly error: PlatformError | null
}

/** What was typed is never sent back: after a refusal all three are typed again. */
export const PasswordPage = ({ visit, notice, error }: PasswordPageProps) => (
  <AccountPage title="Change password" visit={visit} path={accountPaths.password} notice={notice}>
    <Problem error={error} />
    <Form action={accountPaths.password} visit={visit} class="measure">
      {/* Tells password managers whose password this is. */}
      <input type="text" name="username" autocomplete="username" value={visit.session.user.email} readOnly hidden />
      <Field
        label="Current password"
        name="current"
        error={error}
        input={{ type: 'password', autocomplete: 'current-password', required: true, maxLength: 1024 }}
      />
      <Field
        label="New password"
        name="password"
        hint="At least 8 characters. A few words that have nothing to do with each other make a good one."
        error={error}
        input={{ type: 'password', autocomplete: 'new-password', required: true, maxLength: 1024 }}
      />
      <Field
        label="New password, once more"
        name="repeated"
        error={error}
        input={{ type: 'password', autocomplete: 'new-password', required: true, maxLength: 1024 }}
      />
      <p>
        Every other session ends at once and has to sign in again; this one goes on. Connected apps stay connected: they
        never knew your password. If somebody else has been in your account, look at{' '}
        <a href={accountPaths.apps}>your connected apps</a> as well.
      </p>
      <button type="submit">Change password</button>
    </Form>
  </AccountPage>
)
