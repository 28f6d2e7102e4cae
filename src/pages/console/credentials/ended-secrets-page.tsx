import type { CredentialRecord } from '../../../operations/credentials/list-credentials.ts'
import { Older, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { AppPage } from '../components/app-page.tsx'
import { EnvironmentBadge } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

type EndedSecretsPageProps = OwnApp & {
  readonly secrets: readonly CredentialRecord[]
  readonly older: string | null
}

export const EndedSecretsPage = ({ visit, app, secrets, older }: EndedSecretsPageProps) => (
  <AppPage visit={visit} app={app} tab="credentials" title="Ended secrets">
    <p>
      <a href={appPath(app.slug, 'credentials')}>Back to the credentials</a>
    </p>
    {secrets.length === 0 ? (
      <p class="muted">No secret has ended.</p>
    ) : (
      <Table label="Ended secrets" columns={['Secret', 'Environment', 'Created', 'Last used', 'Ended']}>
        {secrets.map((secret) => (
          <EndedRow key={secret.id} secret={secret} />
        ))}
      </Table>
    )}
    <Older href={older} name="Older secrets" />
  </AppPage>
)

const EndedRow = ({ secret }: { readonly secret: CredentialRecord }) => (
  <tr>
    <td>
      <bdi>{secret.label ?? 'Without a label'}</bdi>
      <br />
      <code class="small">{secret.id}</code>
    </td>
    <td>
      <EnvironmentBadge environment={secret.environment} />
    </td>
    <td>
      <Time at={secret.createdAt} />
    </td>
    <td>{secret.lastUsedAt === null ? 'Never' : <Time at={secret.lastUsedAt} />}</td>
    <td>
      {secret.revokedAt === null ? 'Grace over ' : 'Revoked '}
      <Time at={endOf(secret)} />
    </td>
  </tr>
)

const endOf = ({ revokedAt, expiresAt, createdAt }: CredentialRecord): number => revokedAt ?? expiresAt ?? createdAt
