import type { ComponentChildren } from 'preact'
import type { Environment } from '../../domain/app.ts'
import { hasRight, rightOverSecrets } from '../../domain/member.ts'
import type { ListedSecret } from '../../operations/credentials/credentials.ts'
import { Field } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { proveFirst } from '../proof.ts'
import { secretName, SecretRow } from '../secret-row.tsx'
import type { Visit } from '../visit.ts'
import { consoleAppPath, type OwnApp } from './own-app.tsx'

type SecretFormProps = OwnApp & {
  readonly environment: Environment
  /** What else can be done, beside the button. */
  readonly children: ComponentChildren
}

export const CreateSecret = ({ visit, app, environment, children }: SecretFormProps) => (
  <Form
    action={consoleAppPath(app.slug, 'credentials')}
    visit={visit}
    hidden={{ environment }}
    class="measure"
    asks={proveFirst(visit)}
  >
    <Field
      id={`label-${environment}`}
      label={`Label of a new ${environment} secret`}
      name="label"
      hint="Optional. For example, where you will store the secret."
      input={{ maxLength: 200, autocomplete: 'off' }}
    />
    <div class="beside">
      <button type="submit">Create a {environment} secret</button>
      {children}
    </div>
  </Form>
)

/** Where a new secret is shown once. */
export const newSecretPath = (slug: string, id: string): string => consoleAppPath(slug, 'credentials', id, 'secret')

type LiveSecretProps = OwnApp & { readonly secret: ListedSecret }

/** A secret that has not ended. */
export const LiveSecret = ({ visit, app, secret }: LiveSecretProps) => (
  <SecretRow
    secret={secret}
    maker={makerInWords(visit, secret)}
    actions={
      hasRight(app.role, rightOverSecrets(secret.environment)) ? (
        <a class="button small" href={consoleAppPath(app.slug, 'credentials', secret.id, 'revoke')}>
          Revoke
          <span class="unseen">
            {': '}
            <bdi>{secretName(secret)}</bdi>, {secret.environment}
          </span>
        </a>
      ) : undefined
    }
  >
    {secret.status === 'suspended' ? (
      <p class="row-facts">
        Data was lost on this platform, and this secret may have been revoked before. It does not work until an operator
        confirms it: <code>app-platform credential confirm {secret.id}</code>. You can rotate it instead.
      </p>
    ) : null}
  </SecretRow>
)

/** Who made a secret, in the middle of a sentence. Operators are not named. */
export const makerInWords = ({ userId }: Visit, { createdBy }: ListedSecret): string => {
  if (createdBy === null) return 'an unknown person'
  if (createdBy.id === userId) return 'you'
  return createdBy.kind === 'user' ? 'another member' : 'an operator'
}

/** What stays open after a removal, and the way to end it. */
export const KeepsSecrets = ({ slug }: { readonly slug: string }) => {
  const path = `${consoleAppPath(slug, 'credentials', 'rotate')}?environment=`
  return (
    <>
      Client secrets that they have copied keep working until you rotate{' '}
      <a href={`${path}development`}>the development secret</a> and{' '}
      <a href={`${path}production`}>the production secret</a>.
    </>
  )
}
