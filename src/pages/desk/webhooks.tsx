import { builderKinds, maximumEndpoints } from '../../domain/webhook-event.ts'
import { type AttemptRecord, listAttempts } from '../../operations/webhooks/deliveries.ts'
import {
  addEndpoint,
  type EndpointDetail,
  listBuilderEndpoints,
  readEndpoint,
} from '../../operations/webhooks/endpoints.ts'
import {
  buttonNotices,
  endpointButtonRoutes,
  EndpointFacts,
  EndpointRow,
  EndpointStatus,
  endpointStepsOf,
  endpointUrl,
  hostOf,
  OutcomeBadge,
  PingProblem,
  SigningSecret,
  takeOutgoingShare,
} from '../endpoints.tsx'
import { EmptyState, Pager } from '../design/list-tools.tsx'
import { ChoiceList, ChoiceSet } from '../design/field.tsx'
import { ButtonForm } from '../design/form.tsx'
import { RowList } from '../design/row-list.tsx'
import { Time } from '../design/values.tsx'
import { Table } from '../design/table.tsx'
import { formOf, texts } from '../form.ts'
import { list, listRoutes } from '../list.ts'
import { page } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { secretPage, showOnce } from '../secret-page.tsx'
import { noticesOf, StepLinks, stepRoutes } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { millisecondsInWords } from '../words.ts'
import { builderEndpointPath, deskArea, deskForm, DeskPage, deskPaths } from './desk-page.tsx'
import { pageFor, routes } from '../change.tsx'

const endpointAttempts = list('builder-attempts', '/desk/webhooks/:id', {})
type At = { readonly id: string }

const form = formOf({ url: endpointUrl, kinds: texts })

const steps = endpointStepsOf(
  {
    acting: (visit, _, ticket) => visit.asOperator(ticket === undefined ? {} : { ticket }),
    path: (_, __, ...below) => [deskPaths.webhooks, ...below].join('/'),
  },
  {
    area: deskArea,
    root: '/desk/webhooks/:id',
    find: async ({ door }, { id }) => await readEndpoint(door.platform, null, id),
    belongsTo: hostOf,
  },
)

const notices = {
  ...noticesOf(...steps),
  ...buttonNotices,
} as const

/** The builder's own webhook endpoints. */
export const builderWebhookRoutes = routes(() => [
  stepRoutes(...steps),
  pageFor('operator', deskPaths.webhooks, showList),
  deskForm(deskPaths.newWebhook, {
    title: 'Add a webhook endpoint',
    about: 'It hears of the installs, grants and versions of all apps, of the apps themselves, and of users.',
    tab: deskPaths.webhooks,
    effect: 'sends events elsewhere',
    form,
    more: () => (
      <ChoiceSet legend="Events" name="kinds">
        <ChoiceList name="kinds" options={builderKinds.map((kind) => [kind, <code>{kind}</code>, ''])} chosen={[]} />
      </ChoiceSet>
    ),
    button: 'Add the endpoint',
    act: async ({ visit, fields: { url, kinds }, ticket }) => {
      takeOutgoingShare(visit)
      const input = { slug: null, environment: 'production', url, kinds } as const
      const { id, secret } = await visit.asOperator({ ticket }).do(addEndpoint, input)
      return showOnce(visit, builderEndpointPath(id, 'secret'), secret)
    },
  }),
  listRoutes(endpointAttempts, { by: 'operator', show }),
  pageFor('operator', '/desk/webhooks/:id/secret', async (visit, { id }) =>
    showSecret(visit, await readEndpoint(visit.door.platform, null, id)),
  ),
  endpointButtonRoutes('/desk/webhooks/:id', {
    by: 'operator',
    show,
    find: async (visit, { id }) => {
      await readEndpoint(visit.door.platform, null, id)
      return { id, acting: () => visit.asOperator(), page: builderEndpointPath(id) }
    },
  }),
])

const showList = async (visit: Visit): Promise<Response> =>
  page(
    <DeskPage
      title="Webhooks"
      about={`They tell the builder’s backend of installs, grants, apps, versions and users. At most ${maximumEndpoints}.`}
      visit={visit}
      tab={deskPaths.webhooks}
      notices={{ removed: 'The endpoint is removed. Nothing more is sent to it.' }}
      add={[deskPaths.newWebhook, 'Add an endpoint']}
    >
      <RowList
        label="Webhook endpoints"
        rows={await listBuilderEndpoints(visit.door.platform)}
        row={(endpoint) => (
          <EndpointRow key={endpoint.id} href={builderEndpointPath(endpoint.id)} endpoint={endpoint} />
        )}
        empty={<EmptyState title="No endpoints yet">The endpoints of apps are on the pages of each app.</EmptyState>}
      />
    </DeskPage>,
  )

const showSecret = (visit: Visit, endpoint: EndpointDetail): Response => {
  const [href, name] = [builderEndpointPath(endpoint.id), hostOf(endpoint)]
  return secretPage(visit, (value) => (
    <DeskPage
      title="Signing secret of the endpoint"
      belongsTo={name}
      crumbs={[{ href, name }]}
      visit={visit}
      tab={deskPaths.webhooks}
    >
      <SigningSecret value={value} href={href} backend="The backend" />
    </DeskPage>
  ))
}

const show = async (visit: Visit, { id }: At): Promise<Response> => {
  const { platform } = visit.door
  const endpoint = await readEndpoint(platform, null, id)
  const attempts = await endpointAttempts.read(visit, { id }).rows((window) => listAttempts(platform, id, window))
  return page(
    <DeskPage
      title={hostOf(endpoint)}
      belongsTo="Webhook endpoint"
      badges={<EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />}
      visit={visit}
      tab={deskPaths.webhooks}
      notices={notices}
    >
      <PingProblem visit={visit} />
      <EndpointFacts endpoint={endpoint} />
      <h2>Attempts</h2>
      <Table
        label="Attempts"
        rows={attempts.rows}
        rowHeader="Time"
        columns={{
          Time: ({ at }: AttemptRecord) => <Time at={at} />,
          Event: ({ kind }: AttemptRecord) => <code>{kind}</code>,
          Outcome: (attempt: AttemptRecord) => <OutcomeBadge attempt={attempt} />,
          Duration: ({ durationMs }: AttemptRecord) => millisecondsInWords(durationMs),
        }}
      />
      <Pager of={attempts} />
      <h2>Change</h2>
      <p class="beside">
        <ButtonForm action={builderEndpointPath(id, 'ping')} visit={visit}>
          Send a ping
        </ButtonForm>
        <ButtonForm action={builderEndpointPath(id, 'resend-failed')} visit={visit}>
          Send all failed events again
        </ButtonForm>
        {endpoint.status === 'enabled' ? null : (
          <ButtonForm action={builderEndpointPath(id, 'enable')} visit={visit} asks={proveFirst(visit)}>
            Enable the endpoint
          </ButtonForm>
        )}
      </p>
      <StepLinks visit={visit} steps={steps} of={endpoint} params={{ id }} />
    </DeskPage>,
  )
}
