import { maximumEndpoints } from '../../domain/webhook-event.ts'
import { EndpointButton } from './endpoint-parts.tsx'
import { type EndpointRecord, listEndpoints } from '../../operations/webhooks/endpoints.ts'
import { EnvironmentBadge } from '../design/badge.tsx'
import { FilterBar, isLong, noMatch } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ShownOnce } from '../design/values.tsx'
import { list, listRoutes, search } from '../list.ts'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { Allowed, appFor, AppPage, type AppVisit, type AtApp, inBoth, type AppPlace } from './app-area.tsx'
import { EndpointStatus, kindsInWords } from '../endpoint-words.tsx'

const notices = { removed: 'The endpoint is removed. Nothing more is sent to it.' } as const

const endpointList = inBoth(({ key, pattern }) =>
  list(key === 'console' ? 'endpoints' : 'desk-endpoints', pattern('webhooks'), {
    q: search('Search URLs'),
  }),
)

/** The webhook endpoints of an app. There are few, so they are searched in memory and have no pages. */
export const webhooksRoutes = (place: AppPlace) => listRoutes(endpointList[place.key], { by: place.by, show })

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const at = await appFor(visit, slug)
  const asked = endpointList[at.place.key].read(visit, { slug })
  const { q } = asked.values
  const { environment } = at
  const endpoints = (await listEndpoints(visit.door.platform, slug)).filter((one) => one.environment === environment)
  const data = endpoints.filter(({ url }) => url.includes(q))
  const found = await asked.rows(async () => ({ data, nextCursor: null }))
  return page(
    <AppPage
      at={at}
      tab="webhooks"
      title="Webhooks"
      switches
      notices={notices}
      actions={
        at.may('webhooks') ? (
          <a class="button primary" href={at.path('webhooks', 'new')}>
            Add an endpoint
          </a>
        ) : undefined
      }
    >
      <p>
        Webhooks notify the backend of the app of events. Each event is signed and sent over HTTPS to every endpoint
        that subscribes to its kind. If an endpoint does not accept it, the delivery is retried for three days. An
        environment has at most {maximumEndpoints} endpoints.
      </p>
      <FilterBar of={asked} isShown={isLong({ rows: endpoints })} />
      <RowList
        label={`Endpoints in ${environment}`}
        rows={found.rows}
        row={(endpoint) => <EndpointRow key={endpoint.id} at={at} endpoint={endpoint} />}
        empty={noMatch(found, `No endpoints in ${environment} yet.`)}
      />
      <Allowed at={at} right="webhooks">
        {null}
      </Allowed>
    </AppPage>,
  )
}

const EndpointRow = ({ at, endpoint }: AtApp & { readonly endpoint: EndpointRecord }) => (
  <Row
    href={at.path('webhooks', endpoint.id)}
    title={<code>{endpoint.url}</code>}
    badge={<EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />}
    facts={[kindsInWords(endpoint)]}
  />
)

/** The way back to an endpoint. The host of its URL is its name. */
export const endpointCrumb = ({ path }: AppVisit, { id, url }: Pick<EndpointRecord, 'id' | 'url'>) => ({
  href: path('webhooks', id),
  name: new URL(url).host,
})

type EndpointSecretPageProps = AtApp & {
  readonly endpoint: EndpointRecord
  /** Null when it was shown before. */
  readonly secret: string | null
}

/** The only page that shows the secret that signs deliveries to an endpoint. */
export const EndpointSecretPage = ({ at, endpoint, secret }: EndpointSecretPageProps) => (
  <AppPage
    at={at}
    tab="webhooks"
    title="Signing secret of the endpoint"
    badges={<EnvironmentBadge environment={endpoint.environment} />}
    crumbs={[endpointCrumb(at, endpoint)]}
  >
    <p>
      <code>{endpoint.url}</code>
    </p>
    <ShownOnce
      value={secret}
      what="secret"
      label="Signing secret"
      hint="Copy it now. It cannot be shown again."
      advice="rotate it"
      back={{ href: at.path('webhooks', endpoint.id), name: 'the endpoint' }}
    >
      <p>
        The backend of the app needs it to verify each delivery before it trusts the content. The Standard Webhooks
        libraries do that in one line.
      </p>
    </ShownOnce>
    {secret !== null && at.may('resendEvents') ? (
      <EndpointButton at={at} endpoint={endpoint} step="ping" button="Send a ping">
        Once your backend has the secret: a ping is sent once, now.
      </EndpointButton>
    ) : null}
  </AppPage>
)
