import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { listOwnApps, type OwnAppSummary } from '../../operations/apps/lists.ts'
import { AppStatusBadge } from '../design/badge.tsx'
import { Cards } from '../design/table.tsx'
import { Facts, Time } from '../design/values.tsx'
import { Layout } from '../design/shell.tsx'
import { page } from '../page.ts'
import { requireVisit } from '../visit.ts'
import { consoleAppPath, consolePath, newAppPath } from './own-app.tsx'

/** The list of a developer's own apps. */
export const ownAppsRoutes = (door: Door) =>
  new Elysia().get(consolePath, async ({ request }) => {
    const visit = await requireVisit(door, request)
    const apps = await listOwnApps(door.platform, visit.userId)
    return page(
      <Layout title="Your apps" belongsTo="Console" visit={visit} section="console">
        {apps.length === 0 ? (
          <p>
            You have no apps yet. An app has its own client IDs and secrets, asks users for consent, and is released in
            versions. Registering an app and making its first call takes a minute.
          </p>
        ) : null}
        <p>
          <a href={newAppPath} class="button">
            Create an app
          </a>
        </p>
        <p class="muted">
          {apps.length} of {door.platform.quotas.apps} apps
        </p>
        <Cards rows={apps} card={(app) => <OwnAppCard app={app} />} />
      </Layout>,
    )
  })

const OwnAppCard = ({ app }: { readonly app: OwnAppSummary }) => (
  <article>
    <h2>
      <a href={consoleAppPath(app.slug)}>
        <bdi>{app.name}</bdi>
      </a>
    </h2>
    <p>
      <AppStatusBadge status={app.status} /> <code>{app.slug}</code>
    </p>
    <Facts
      of={{
        Live: app.live ?? 'Nothing yet',
        'Development head': app.developmentHead ?? 'None yet',
        Registered: <Time at={app.createdAt} />,
      }}
    />
  </article>
)
