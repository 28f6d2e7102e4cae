import type { PlatformError } from '../../domain/errors.ts'
import { Field } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { Problem } from '../components/problem.tsx'
import { Layout } from '../layout.tsx'
import type { TicketBook } from '../../http/call.ts'

type SignInPageProps = {
  readonly platformName: string
  readonly tickets: TicketBook
  readonly returnTo: string
  /** An app has sent the person here, and they come to its question next. */
  readonly isForApp: boolean
  readonly email: string
  readonly error: PlatformError | null
}

export const SignInPage = ({ platformName, tickets, returnTo, isForApp, email, error }: SignInPageProps) => (
  <Layout title="Sign in" visit={{ platformName }} width="narrow">
    <Problem error={error} />
    {isForApp ? <p>An app asks for access to your account. Sign in to see what it asks for, then decide.</p> : null}
    <Form action="/sign-in" visit={{ tickets }}>
      <input type="hidden" name="return_to" value={returnTo} />
      <Field
        label="Email address"
        name="email"
        input={{ type: 'email', autocomplete: 'username', required: true, maxLength: 254, value: email }}
      />
      <Field
        label="Password"
        name="password"
        input={{ type: 'password', autocomplete: 'current-password', required: true, maxLength: 1024 }}
      />
      <button type="submit">Sign in</button>
    </Form>
    <p class="muted">
      Accounts are made by the operator of this server. Ask there when you have none, or cannot get in.
    </p>
  </Layout>
)
