import type { InspectedApp } from '../../../operations/apps/overview.ts'
import { AppStatusBadge } from '../../components/badges.tsx'
import { Form } from '../../components/form.tsx'
import { Time } from '../../components/values.tsx'
import { installCountsInWords } from '../../words.ts'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { MixedScripts } from '../mixed-scripts.tsx'
import { appPath, auditPath, deskPaths, reviewPath, userPath } from '../paths.ts'

type AppPageProps = {
  readonly visit: Visit
  readonly app: InspectedApp
  readonly notice: string | null
}

export const AppPage = ({ visit, app, notice }: AppPageProps) => (
  <DeskPage title={app.name} visit={visit} tab={deskPaths.apps} notice={notice}>
    <Facts app={app} />
    <Change visit={visit} app={app} />
  </DeskPage>
)

const Change = ({ visit, app }: ChangeProps) => {
  if (app.deletedAt !== null) return <Deleted slug={app.slug} />
  return app.status === 'active' ? <Suspend visit={visit} app={app} /> : <Activate visit={visit} app={app} />
}

const Facts = ({ app }: { readonly app: InspectedApp }) => (
  <dl>
    <dt>Slug</dt>
    <dd>
      <code>{app.slug}</code>
    </dd>
    <MixedScripts name={app.name} />
    <dt>Status</dt>
    <dd>
      <AppStatusBadge status={app.status} deletedAt={app.deletedAt} />
    </dd>
    <dt>Owner</dt>
    <dd>
      <bdi>{app.owner.name}</bdi>, <a href={userPath(app.owner.id)}>{app.owner.email}</a>
    </dd>
    <dt>Registered</dt>
    <dd>
      <Time at={app.createdAt} />
    </dd>
    <dt>Scopes it may ask for</dt>
    <dd>{app.scopes.length === 0 ? 'None' : app.scopes.map((scope) => <Scope key={scope} name={scope} />)}</dd>
    <dt>Live version</dt>
    <dd>{app.live === null ? 'None' : <a href={reviewPath(app.slug, app.live.version)}>{app.live.version}</a>}</dd>
    <dt>Waiting for review</dt>
    <dd>
      {app.submitted === null ? (
        'Nothing'
      ) : (
        <a href={reviewPath(app.slug, app.submitted.version)}>{app.submitted.version}</a>
      )}
    </dd>
    <dt>Installs</dt>
    <dd>
      <a href={`${deskPaths.installs}?app=${app.slug}`}>{installCountsInWords(app.installs)}</a>
    </dd>
    <dt>Client IDs</dt>
    <dd>
      <code>{app.clientIds.production}</code>
      <br />
      <code>{app.clientIds.development}</code>
    </dd>
    <dt>What happened</dt>
    <dd>
      <a href={auditPath({ app: app.slug })}>Its part of the audit log</a>
    </dd>
  </dl>
)

const Scope = ({ name }: { readonly name: string }) => (
  <>
    <code>{name}</code>{' '}
  </>
)

type ChangeProps = { readonly visit: Visit; readonly app: InspectedApp }

const Suspend = ({ visit, app }: ChangeProps) => (
  <section aria-labelledby="suspend">
    <h2 id="suspend">Suspend this app</h2>
    <p>
      From the next call on none of its secrets and tokens works, for no user, and nobody can sign in to it. Nothing is
      deleted or ended: activating it gives back whatever has not expired by then.
    </p>
    <Form action={appPath(app.slug, 'suspend')} visit={visit}>
      <button type="submit" class="danger small">
        Suspend the app
      </button>
    </Form>
  </section>
)

const Activate = ({ visit, app }: ChangeProps) => (
  <section aria-labelledby="activate">
    <h2 id="activate">Activate this app</h2>
    <p>Its secrets work again at once, and so does every token that has not expired or been revoked since.</p>
    <Form action={appPath(app.slug, 'activate')} visit={visit}>
      <button type="submit" class="small">
        Activate the app
      </button>
    </Form>
  </section>
)

const Deleted = ({ slug }: { readonly slug: string }) => (
  <p>
    This app is deleted. Everything of it but the audit log is removed 7 days after that. Until then this brings it
    back, suspended: <code>app-platform app undelete {slug}</code>
  </p>
)
