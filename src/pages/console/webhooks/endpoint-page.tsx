import type { AttemptRecord } from '../../../operations/webhooks/deliveries.ts'
import type { EndpointDetail } from '../../../operations/webhooks/endpoints.ts'
import { Older } from '../../components/table.tsx'
import { Problem } from '../../components/form.tsx'
import { Time } from '../../components/values.tsx'
import { AppPage } from '../components/app-page.tsx'
import { EnvironmentBadge } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { AttemptTable } from './attempt-table.tsx'
import { EndForms, type RefusedChange, ResendForms, RotateForm, TestForm } from './endpoint-forms.tsx'
import { EndpointStatus } from './endpoint-status.tsx'

type EndpointPageProps = OwnApp & {
  readonly endpoint: EndpointDetail
  readonly attempts: readonly AttemptRecord[]
  readonly older: string | null
  readonly notice: string | null
  /** What was done and did not come out well. */
  readonly problem: string | null
  readonly refused: RefusedChange | null
}

export const EndpointPage = ({
  visit,
  app,
  endpoint,
  attempts,
  older,
  notice,
  problem,
  refused,
}: EndpointPageProps) => (
  <AppPage visit={visit} app={app} tab="webhooks" title="Webhook endpoint" notice={notice}>
    <Problem error={refused?.error ?? null} />
    {problem === null ? null : (
      <p class="problem" role="alert">
        {problem}
      </p>
    )}
    <Facts endpoint={endpoint} />
    <h2>Test it</h2>
    <TestForm visit={visit} app={app} endpoint={endpoint} />
    <h2>Attempts</h2>
    <AttemptTable visit={visit} app={app} endpointId={endpoint.id} attempts={attempts} />
    <Older href={older} name="Older attempts" />
    <h2>Send again</h2>
    <ResendForms visit={visit} app={app} endpoint={endpoint} refused={refused} />
    <h2>Secret</h2>
    <RotateForm visit={visit} app={app} endpoint={endpoint} refused={refused} />
    <h2>{endpoint.status === 'enabled' ? 'Disable or remove it' : 'Enable or remove it'}</h2>
    <EndForms visit={visit} app={app} endpoint={endpoint} />
  </AppPage>
)

const Facts = ({ endpoint }: { readonly endpoint: EndpointDetail }) => (
  <dl>
    <dt>URL</dt>
    <dd>
      <code>{endpoint.url}</code> <EnvironmentBadge environment={endpoint.environment} />
    </dd>
    <dt>Status</dt>
    <dd>
      <EndpointStatus reason={endpoint.reason} failingSince={endpoint.failingSince} />{' '}
      {endpoint.failingSince === null ? null : (
        <>
          since <Time at={endpoint.failingSince} />
        </>
      )}
    </dd>
    <dt>Told of</dt>
    <dd>{endpoint.kinds.join(', ')}</dd>
    <dt>Last thirty days</dt>
    <dd>
      {endpoint.deliveries.delivered} taken, {endpoint.deliveries.pending} waiting, {endpoint.deliveries.failed} failed
    </dd>
    <dt>ID</dt>
    <dd>
      <code>{endpoint.id}</code>
    </dd>
    <dt>Added</dt>
    <dd>
      <Time at={endpoint.createdAt} />
    </dd>
  </dl>
)
