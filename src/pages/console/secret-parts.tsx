import type { ComponentChildren } from 'preact'
import type { Environment } from '../../domain/app.ts'
import { hasRight, rightOverSecrets } from '../../domain/member.ts'
import type { PlatformError } from '../../domain/errors.ts'
import type { CredentialRecord, ListedSecret } from '../../operations/credentials/list-credentials.ts'
import { Badge } from '../design/badge.tsx'
import { Field, Form } from '../design/field.tsx'
import { Row } from '../design/row-list.tsx'
import { LastUsed, Time } from '../design/values.tsx'
import type { Visit } from '../visit.ts'
import { consoleAppPath, type OwnApp } from './own-app.tsx'

/** A form that was refused, to be shown again with the reason. */
export type RefusedSecret = {
  readonly environment: Environment
  readonly value: string
  readonly error: PlatformError
}

type SecretFormProps = OwnApp & {
  readonly environment: Environment
  readonly refused: RefusedSecret | null
  /** What else can be done, beside the button. */
  readonly children: ComponentChildren
}

export const CreateSecret = ({ visit, app, environment, refused, children }: SecretFormProps) => (
  <Form action={consoleAppPath(app.slug, 'credentials')} visit={visit} hidden={{ environment }} class="measure">
    <Field
      id={`label-${environment}`}
      label={`Label of a new ${environment} secret`}
      name="label"
      hint="Optional. For example, where you will store the secret."
      error={refused?.error ?? null}
      input={{ value: refused?.value ?? '', maxLength: 200, autocomplete: 'off' }}
    />
    <div class="beside">
      <button type="submit">Create a {environment} secret</button>
      {children}
    </div>
  </Form>
)

/** Where a new secret is shown once. */
export const newSecretPath = (slug: string, id: string): string => consoleAppPath(slug, 'credentials', id, 'secret')

/** Instead of a secret that was shown before. */
export const ShownBefore = ({ advice }: { readonly advice: string }) => (
  <p>
    There is no new secret to show. A secret is shown once, right after it is created, because only its hash is stored.
    If you did not copy it, {advice}.
  </p>
)

export const secretName = ({ label }: Pick<CredentialRecord, 'label'>): string => label ?? 'Secret without a label'

type LiveSecretProps = OwnApp & { readonly secret: ListedSecret }

/** A secret that has not ended. Everything is shown except the secret itself. */
export const LiveSecret = ({ visit, app, secret }: LiveSecretProps) => (
  <Row
    title={<bdi>{secretName(secret)}</bdi>}
    badge={<StatusBadge secret={secret} />}
    facts={[
      <>
        Ends with <SecretHint secret={secret} />
      </>,
      <>
        Created <Time at={secret.createdAt} /> by {makerInWords(visit, secret)}
      </>,
      <LastUsed at={secret.lastUsedAt} />,
      <>
        Expires <Time at={secret.expiresAt} otherwise="never, unless you rotate or revoke it" />
      </>,
      <code>{secret.id}</code>,
    ]}
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
  </Row>
)

/** The end of a secret, to compare with a copy of it. */
export const SecretHint = ({ secret: { hint } }: Pick<LiveSecretProps, 'secret'>) =>
  hint === null ? <span class="muted">Not recorded</span> : <code>…{hint}</code>

/** Who made a secret, in the middle of a sentence. Operators are not named. */
export const makerInWords = ({ userId }: Visit, { createdBy }: ListedSecret): string => {
  if (createdBy === null) return 'an unknown person'
  if (createdBy.id === userId) return 'you'
  return createdBy.kind === 'user' ? 'another member' : 'an operator'
}

const StatusBadge = ({ secret: { status, expiresAt } }: Pick<LiveSecretProps, 'secret'>) => {
  if (status === 'live' && expiresAt !== null) return <Badge tone="waiting">Active until it expires (rotated)</Badge>
  return <Badge tone={status === 'live' ? 'good' : 'bad'}>{statusWords[status]}</Badge>
}

const statusWords = { live: 'Active', suspended: 'Suspended', ended: 'Ended' } as const satisfies Record<
  CredentialRecord['status'],
  string
>

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
