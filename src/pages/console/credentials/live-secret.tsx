import type { CredentialRecord } from '../../../operations/credentials/list-credentials.ts'
import { Badge } from '../../components/badges.tsx'
import { Form } from '../../components/form.tsx'
import { Time } from '../../components/values.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

type LiveSecretProps = OwnApp & { readonly secret: CredentialRecord }

/** A secret that works, everything about it but itself, and its end. */
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
        Data was lost on this platform, and this secret may be one that had been revoked. It does not work until an
        operator confirms it: <code>app-platform credential confirm {secret.id}</code>. You can rotate it instead.
      </p>
    ) : null}
    <dl>
      <dt>ID</dt>
      <dd>
        <code>{secret.id}</code>
      </dd>
      <dt>Created</dt>
      <dd>
        <Time at={secret.createdAt} />
      </dd>
      <dt>Last used</dt>
      <dd>{secret.lastUsedAt === null ? 'Never' : <Time at={secret.lastUsedAt} />}</dd>
      <dt>Ends</dt>
      <dd>{secret.expiresAt === null ? 'When you rotate or revoke it' : <Time at={secret.expiresAt} />}</dd>
    </dl>
    <Form action={appPath(app.slug, 'credentials', secret.id, 'revoke')} visit={visit}>
      <button type="submit" class="danger small" aria-describedby={`revoke-${secret.id}`}>
        Revoke now
      </button>
      <small id={`revoke-${secret.id}`}>
        It stops working at once, and with it the app tokens that it minted. What users have granted goes on.
      </small>
    </Form>
  </article>
)

const StatusBadge = ({ secret }: { readonly secret: CredentialRecord }) => {
  switch (secret.status) {
    case 'live':
      return <LiveBadge endsAt={secret.expiresAt} />
    case 'suspended':
      return <Badge tone="bad">Suspended</Badge>
    case 'ended':
      return <Badge tone="bad">Ended</Badge>
    default:
      return secret.status satisfies never
  }
}

const LiveBadge = ({ endsAt }: { readonly endsAt: number | null }) =>
  endsAt === null ? <Badge tone="good">Live</Badge> : <Badge tone="waiting">Live, in its grace</Badge>
