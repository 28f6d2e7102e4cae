import { environments } from '../../domain/app.ts'
import { isEveryKind, maximumEndpoints } from '../../domain/webhook-event.ts'
import type { Door } from '../../http/door.ts'
import { type EndpointRecord, listEndpoints } from '../../operations/webhooks/endpoints.ts'
import type { ParamsOf } from '../change.tsx'
import { Badge, EnvironmentBadge, environmentNames } from '../design/badge.tsx'
import { FilterBar, isLong, noMatch } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ShownOnce } from '../design/values.tsx'
import { list, listRoutes, search } from '../list.ts'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { Allowed, consoleAppPath, type OwnApp, ownAppOf, OwnAppPage } from './own-app.tsx'

const notices = { removed: 'The endpoint is removed. Nothing more is sent to it.' } as const

const endpointList = list('endpoints', '/console/:slug/webhooks', { q: search('Search URLs') })

/** The webhook endpoints of an app. There are few, so they are searched in memory and have no pages. */
export const webhooksRoutes = (door: Door) => listRoutes(door, endpointList, { by: 'user', show })

const show = async (visit: Visit, { slug }: ParamsOf<typeof endpointList.path>): Promise<Response> => {
  const { app } = await ownAppOf(visit, slug)
  const asked = endpointList.read(visit, { slug })
  const { q } = asked.values
  const endpoints = await listEndpoints(visit.door.platform, slug)
  const data = endpoints.filter(({ url }) => url.includes(q))
  const found = await asked.rows(async () => ({ data, nextCursor: null }))
  return page(
    <OwnAppPage visit={visit} app={app} tab="webhooks" title="Webhooks" notices={notices}>
      <p>
        Webhooks notify your backend of events. Each event is signed and sent over HTTPS to every endpoint that
        subscribes to its kind. If an endpoint does not accept it, the delivery is retried for three days. Development
        and production have separate endpoints, at most {maximumEndpoints} each.
      </p>
      <FilterBar of={asked} isShown={isLong({ rows: endpoints })} />
      {environments.map((environment) => (
        <section aria-labelledby={`webhooks-${environment}`} key={environment}>
          <h2 id={`webhooks-${environment}`}>{environmentNames[environment]}</h2>
          <RowList
            rows={found.rows.filter((one) => one.environment === environment)}
            row={(endpoint) => <EndpointRow key={endpoint.id} slug={app.slug} endpoint={endpoint} />}
            empty={noMatch(found, 'No endpoints yet.')}
          />
          <Allowed app={app} right="webhooks">
            <p>
              <a class="button" href={`${consoleAppPath(app.slug, 'webhooks', 'new')}?environment=${environment}`}>
                Add an endpoint for {environment}
              </a>
            </p>
          </Allowed>
        </section>
      ))}
    </OwnAppPage>,
  )
}

const EndpointRow = ({ slug, endpoint }: { readonly slug: string; readonly endpoint: EndpointRecord }) => (
  <Row
    href={consoleAppPath(slug, 'webhooks', endpoint.id)}
    title={<code>{endpoint.url}</code>}
    badge={<EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />}
    facts={[kindsInWords(endpoint.kinds)]}
  />
)

/** `All events`, `ping`, or `3 kinds of events`. */
const kindsInWords = (kinds: EndpointRecord['kinds']): string => {
  if (isEveryKind(kinds)) return 'All events'
  return kinds.length === 1 ? kinds.join() : `${kinds.length} kinds of events`
}

const reasonWords = {
  by_hand: 'Disabled',
  gone: 'Disabled: answered 410 Gone',
  failing: 'Disabled: failed for five days',
} as const

/** Whether events are sent to an endpoint, and why not. */
export const EndpointStatus = ({ reason, failingSince }: Pick<EndpointRecord, 'reason' | 'failingSince'>) => {
  if (reason !== null) return <Badge tone="bad">{reasonWords[reason]}</Badge>
  return failingSince === null ? <Badge tone="good">Enabled</Badge> : <Badge tone="waiting">Enabled, failing</Badge>
}

/** The way back to an endpoint. The host of its URL is its name. */
export const endpointCrumb = (slug: string, { id, url }: Pick<EndpointRecord, 'id' | 'url'>) => ({
  href: consoleAppPath(slug, 'webhooks', id),
  name: new URL(url).host,
})

type EndpointSecretPageProps = OwnApp & {
  readonly endpoint: EndpointRecord
  /** Null when it was shown before. */
  readonly secret: string | null
}

/** The only page that shows the secret that signs deliveries to an endpoint. */
export const EndpointSecretPage = ({ visit, app, endpoint, secret }: EndpointSecretPageProps) => (
  <OwnAppPage
    visit={visit}
    app={app}
    tab="webhooks"
    title="Signing secret of the endpoint"
    badges={<EnvironmentBadge environment={endpoint.environment} />}
    crumbs={[endpointCrumb(app.slug, endpoint)]}
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
      back={{ href: consoleAppPath(app.slug, 'webhooks', endpoint.id), name: 'the endpoint' }}
    >
      <p>
        Your backend needs it to verify each delivery before it trusts the content. The Standard Webhooks libraries do
        that in one line.
      </p>
    </ShownOnce>
  </OwnAppPage>
)
