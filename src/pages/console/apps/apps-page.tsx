import type { OwnAppSummary } from '../../../operations/apps/lists.ts'
import { Time } from '../../components/values.tsx'
import { Layout } from '../../layout.tsx'
import type { Visit } from '../../visit.ts'
import { AppStatusBadge } from '../../components/badges.tsx'
import { appPath, newAppPath } from '../paths.ts'

type AppsPageProps = { readonly visit: Visit; readonly apps: readonly OwnAppSummary[]; readonly quota: number }

export const AppsPage = ({ visit, apps, quota }: AppsPageProps) => (
  <Layout title="Your apps" belongsTo="Console" visit={visit} section="console">
    {apps.length === 0 ? <NoApps /> : null}
    <p>
      <a href={newAppPath} class="button">
        Create an app
      </a>
    </p>
    <p class="muted">
      {apps.length} of {quota} apps
    </p>
    <div class="cards">
      {apps.map((app) => (
        <AppCard key={app.slug} app={app} />
      ))}
    </div>
  </Layout>
)

const NoApps = () => (
  <p>
    You have no app yet. An app gets a client ID and secrets of its own, asks users for consent, and is released in
    versions. It takes a minute to register one and make its first call.
  </p>
)

const AppCard = ({ app }: { readonly app: OwnAppSummary }) => (
  <article>
    <h2>
      <a href={appPath(app.slug)}>
        <bdi>{app.name}</bdi>
      </a>
    </h2>
    <p>
      <AppStatusBadge status={app.status} /> <code>{app.slug}</code>
    </p>
    <dl>
      <dt>Live</dt>
      <dd>{app.live ?? 'Nothing yet'}</dd>
      <dt>Development head</dt>
      <dd>{app.developmentHead ?? 'None yet'}</dd>
      <dt>Registered</dt>
      <dd>
        <Time at={app.createdAt} />
      </dd>
    </dl>
  </article>
)
