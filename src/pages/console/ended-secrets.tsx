import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { type CredentialRecord, listEndedCredentials } from '../../operations/credentials/list-credentials.ts'
import { EnvironmentBadge } from '../components/badges.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { page } from '../page.ts'
import { listPart, olderPath } from '../query.ts'
import { consoleAppPath, type OwnApp, OwnAppPage, requireOwnApp } from './own-app.tsx'

/** The name in its cursors. */
const list = 'ended-secrets'

/** The secrets that were revoked or have expired. */
export const endedSecretRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/credentials/ended', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const { data, nextCursor } = await listEndedCredentials(door.platform, app.id, listPart(visit, list))
    const older = olderPath(consoleAppPath(slug, 'credentials', 'ended'), list, nextCursor)
    return page(<EndedSecretsPage visit={visit} app={app} secrets={data} older={older} />)
  })

type EndedSecretsPageProps = OwnApp & { readonly secrets: readonly CredentialRecord[]; readonly older: string | null }

const EndedSecretsPage = ({ visit, app, secrets, older }: EndedSecretsPageProps) => (
  <OwnAppPage visit={visit} app={app} tab="credentials" title="Ended secrets">
    <p>
      <a href={consoleAppPath(app.slug, 'credentials')}>Back to the credentials</a>
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
  </OwnAppPage>
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
      {secret.revokedAt === null ? 'Expired ' : 'Revoked '}
      <Time at={secret.revokedAt ?? secret.expiresAt ?? secret.createdAt} />
    </td>
  </tr>
)
