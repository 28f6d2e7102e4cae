import { environments } from '../../../domain/app.ts'
import type { PlatformError } from '../../../domain/errors.ts'
import type { AppOverview } from '../../../operations/apps/overview.ts'
import { Field, Form, Problem } from '../../components/form.tsx'
import { Copyable, Time } from '../../components/values.tsx'
import { AppPage } from '../components/app-page.tsx'
import { AppStatusBadge, environmentNames } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'
import { Checklist } from './checklist.tsx'
import { WhereItStands } from './where-it-stands.tsx'

type OverviewPageProps = OwnApp & {
  readonly overview: AppOverview
  readonly notice: string | null
  /** What the form for the name says; its own name unless another was refused. */
  readonly name: string
  readonly error: PlatformError | null
}

export const OverviewPage = ({ visit, app, overview, notice, name, error }: OverviewPageProps) => (
  <AppPage visit={visit} app={app} tab="overview" title={app.name} notice={notice}>
    <p>
      <AppStatusBadge status={app.status} /> <code>{app.slug}</code>
    </p>
    <WhereItStands slug={app.slug} overview={overview} />
    <Checklist slug={app.slug} overview={overview} />
    <Identity visit={visit} app={app} overview={overview} />
    <h2>Rename it</h2>
    <Problem error={error} />
    <Form action={appPath(app.slug, 'name')} visit={visit}>
      <Field
        label="Name"
        name="name"
        hint="What people read when they are asked for their consent, from the next time on."
        error={error}
        input={{ value: name, required: true, maxLength: 200 }}
      />
      <button type="submit" class="secondary">
        Rename the app
      </button>
    </Form>
  </AppPage>
)

/** What the app is called by programs. */
const Identity = ({ app, overview }: OwnApp & { readonly overview: AppOverview }) => (
  <>
    <h2>Identity</h2>
    <dl>
      {environments.map((environment) => (
        <>
          <dt>{`${environmentNames[environment]} client ID`}</dt>
          <dd>
            <Copyable
              id={`client-${environment}`}
              value={app.clientIds[environment]}
              what={`the ${environment} client ID`}
            />
          </dd>
        </>
      ))}
      <dt>App ID</dt>
      <dd>
        <code>{app.id}</code>
      </dd>
      <dt>Registered</dt>
      <dd>
        <Time at={app.createdAt} />
      </dd>
      <dt>Secret last used</dt>
      <dd>{overview.lastUsedAt === null ? 'Never' : <Time at={overview.lastUsedAt} />}</dd>
    </dl>
  </>
)
