import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listEndedCredentials } from '../../operations/credentials/credentials.ts'
import { EnvironmentBadge } from '../design/badge.tsx'
import { noMatch, Pager, SearchBar } from '../design/list-tools.tsx'
import { Table } from '../design/table.tsx'
import { Lines, Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { parameterOf, readList } from '../query.ts'
import { consoleAppPath, OwnAppPage, requireOwnApp } from './own-app.tsx'
import { SecretHint } from '../secret-row.tsx'
import { makerInWords } from './secret-parts.tsx'

/** The secrets that were revoked or have expired. */
export const endedSecretRoutes = (door: Door) =>
  new Elysia().get('/console/:slug/credentials/ended', async ({ request, params: { slug } }) => {
    const { visit, app } = await requireOwnApp(door, request, slug)
    const path = consoleAppPath(slug, 'credentials', 'ended')
    const q = parameterOf(visit, 'q')
    const secrets = await readList(visit, { list: 'ended-secrets', path, query: { q } }, (part) =>
      listEndedCredentials(door.platform, app.id, part, q),
    )
    return page(
      <OwnAppPage visit={visit} app={app} tab="credentials" title="Ended secrets">
        <SearchBar path={path} label="Label or ID" part={q} shown={secrets} />
        <Table
          label="Ended secrets"
          rows={secrets.rows}
          columns={{
            Secret: ({ id, label }) => (
              <Lines of={[<bdi>{label ?? 'Without a label'}</bdi>, <code class="small">{id}</code>]} />
            ),
            Environment: ({ environment }) => <EnvironmentBadge environment={environment} />,
            'Ends with': (secret) => <SecretHint secret={secret} />,
            Created: (secret) => <Lines of={[<Time at={secret.createdAt} />, `by ${makerInWords(visit, secret)}`]} />,
            'Last used': ({ lastUsedAt }) => <Time at={lastUsedAt} otherwise="Never" />,
            Ended: ({ revokedAt, expiresAt, createdAt }) => (
              <>
                {revokedAt === null ? 'Expired ' : 'Revoked '}
                <Time at={revokedAt ?? expiresAt ?? createdAt} />
              </>
            ),
          }}
          empty={noMatch(secrets, q !== '', 'No secret has ended.')}
        />
        <Pager {...secrets} shown={secrets.rows.length} />
      </OwnAppPage>,
    )
  })
