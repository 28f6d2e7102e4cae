import { environments } from '../../../domain/app.ts'
import { maximumEndpoints } from '../../../domain/webhook-event.ts'
import type { EndpointRecord } from '../../../operations/webhooks/endpoints.ts'
import { AppPage } from '../components/app-page.tsx'
import { environmentNames } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'
import { EndpointStatus } from './endpoint-status.tsx'

type WebhooksPageProps = OwnApp & { readonly endpoints: readonly EndpointRecord[]; readonly notice: string | null }

export const WebhooksPage = ({ visit, app, endpoints, notice }: WebhooksPageProps) => (
  <AppPage visit={visit} app={app} tab="webhooks" title="Webhooks" notice={notice}>
    <p>
      Tell your backend what happens instead of being asked: each event is sent by HTTPS, signed, to every endpoint that
      has chosen its kind, again and again for three days until it is taken. Development and production have their own
      endpoints, at most {maximumEndpoints} each.
    </p>
    {environments.map((environment) => (
      <section aria-labelledby={`webhooks-${environment}`} key={environment}>
        <h2 id={`webhooks-${environment}`}>{environmentNames[environment]}</h2>
        <EndpointList slug={app.slug} endpoints={endpoints.filter((one) => one.environment === environment)} />
        <p>
          <a href={`${appPath(app.slug, 'webhooks', 'new')}?environment=${environment}`}>
            Add an endpoint for {environment}
          </a>
        </p>
      </section>
    ))}
  </AppPage>
)

type EndpointListProps = { readonly slug: string; readonly endpoints: readonly EndpointRecord[] }

const EndpointList = ({ slug, endpoints }: EndpointListProps) =>
  endpoints.length === 0 ? (
    <p class="muted">None yet: nobody is told.</p>
  ) : (
    <ul class="rows">
      {endpoints.map((endpoint) => (
        <li key={endpoint.id}>
          <a href={appPath(slug, 'webhooks', endpoint.id)}>
            <code>{endpoint.url}</code>
          </a>{' '}
          <EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />
        </li>
      ))}
    </ul>
  )
