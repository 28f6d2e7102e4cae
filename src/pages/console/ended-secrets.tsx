import type { Door } from '../../http/door.ts'
import { listEndedCredentials } from '../../operations/credentials/credentials.ts'
import type { ParamsOf } from '../change.tsx'
import { EnvironmentBadge } from '../design/badge.tsx'
import { FilterBar, isLong, noMatch, Pager } from '../design/list-tools.tsx'
import { Table } from '../design/table.tsx'
import { Lines, Time } from '../design/values.tsx'
import { list, listRoutes, search } from '../list.ts'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { ownAppOf, OwnAppPage } from './own-app.tsx'
import { SecretHint } from '../secret-row.tsx'
import { makerInWords } from './secret-parts.tsx'

const endedSecrets = list('ended-secrets', '/console/:slug/credentials/ended', { q: search('Label or ID') })

/** The secrets that were revoked or have expired. */
export const endedSecretRoutes = (door: Door) => listRoutes(door, endedSecrets, { by: 'user', show })

const show = async (visit: Visit, { slug }: ParamsOf<typeof endedSecrets.path>): Promise<Response> => {
  const { app } = await ownAppOf(visit, slug)
  const asked = endedSecrets.read(visit, { slug })
  const secrets = await asked.rows((part) => listEndedCredentials(visit.door.platform, app.id, part, asked.values.q))
  return page(
    <OwnAppPage visit={visit} app={app} tab="credentials" title="Ended secrets">
      <FilterBar of={asked} isShown={isLong(secrets)} />
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
        empty={noMatch(secrets, 'No secret has ended.')}
      />
      <Pager of={secrets} />
    </OwnAppPage>,
  )
}
