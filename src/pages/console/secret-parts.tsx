import type { Environment } from '../../domain/app.ts'
import { graceHours } from '../../domain/credential.ts'
import type { PlatformError } from '../../domain/errors.ts'
import type { CredentialRecord } from '../../operations/credentials/list-credentials.ts'
import { Badge } from '../design/badge.tsx'
import { Field, Form } from '../design/field.tsx'
import { Facts, Time } from '../design/values.tsx'
import { consoleAppPath, type OwnApp } from './own-app.tsx'

/** A form that was refused, to be shown again with the reason. */
export type RefusedSecret = {
  readonly form: 'create' | 'rotate'
  readonly environment: Environment
  readonly value: string
  readonly error: PlatformError
}

type SecretFormProps = OwnApp & { readonly environment: Environment; readonly refused: RefusedSecret | null }

export const CreateSecret = ({ visit, app, environment, refused }: SecretFormProps) => {
  const again = refused?.form === 'create' ? refused : null
  return (
    <Form action={consoleAppPath(app.slug, 'credentials')} visit={visit}>
      <input type="hidden" name="environment" value={environment} />
      <Field
        id={`label-${environment}`}
        label={`Label of a new ${environment} secret`}
        name="label"
        hint="Optional. For example, where you will store the secret."
        error={again?.error ?? null}
        input={{ value: again?.value ?? '', maxLength: 200, autocomplete: 'off' }}
      />
      <button type="submit">Create a {environment} secret</button>
    </Form>
  )
}

/** The input for the hours of a grace period, with what was typed before. */
export const graceInput = (typed = String(graceHours.default)) =>
  ({ type: 'number', value: typed, min: 0, max: graceHours.maximum, required: true }) as const

export const RotateSecret = ({ visit, app, environment, refused }: SecretFormProps) => {
  const again = refused?.form === 'rotate' ? refused : null
  return (
    <Form action={consoleAppPath(app.slug, 'credentials', 'rotate')} visit={visit}>
      <input type="hidden" name="environment" value={environment} />
      <Field
        id={`grace-${environment}`}
        label={`Hours until the old ${environment} secret expires`}
        name="graceHours"
        hint={`0 to ${graceHours.maximum}. Until then both secrets work. With 0 the old one stops working at once.`}
        error={again?.error ?? null}
        input={graceInput(again?.value)}
      />
      <button type="submit" class="secondary">
        Rotate the {environment} secret
      </button>
    </Form>
  )
}

type LiveSecretProps = OwnApp & { readonly secret: CredentialRecord }

/** A secret that has not ended. Everything is shown except the secret itself. */
export const LiveSecret = ({ visit, app, secret }: LiveSecretProps) => (
  <article>
    <h3>
      <bdi>{secret.label ?? 'Secret without a label'}</bdi>
    </h3>
    <p>
      <StatusBadge secret={secret} />
    </p>
    {secret.status === 'suspended' ? (
      <p>
        Data was lost on this platform, and this secret may have been revoked before. It does not work until an operator
        confirms it: <code>app-platform credential confirm {secret.id}</code>. You can rotate it instead.
      </p>
    ) : null}
    <Facts
      of={{
        ID: <code>{secret.id}</code>,
        Created: <Time at={secret.createdAt} />,
        'Last used': <Time at={secret.lastUsedAt} otherwise="Never" />,
        Expires: <Time at={secret.expiresAt} otherwise="Never, unless you rotate or revoke it" />,
      }}
    />
    <Form action={consoleAppPath(app.slug, 'credentials', secret.id, 'revoke')} visit={visit}>
      <button type="submit" class="danger small" aria-describedby={`revoke-${secret.id}`}>
        Revoke now
      </button>
      <small id={`revoke-${secret.id}`}>
        The secret and its app tokens stop working at once. Access that users have granted continues.
      </small>
    </Form>
  </article>
)

const StatusBadge = ({ secret: { status, expiresAt } }: Pick<LiveSecretProps, 'secret'>) => {
  if (status === 'live' && expiresAt !== null) return <Badge tone="waiting">Active until it expires (rotated)</Badge>
  return <Badge tone={status === 'live' ? 'good' : 'bad'}>{statusWords[status]}</Badge>
}

const statusWords = { live: 'Active', suspended: 'Suspended', ended: 'Ended' } as const satisfies Record<
  CredentialRecord['status'],
  string
>
