import { Elysia } from 'elysia'
import type { AppStatus } from '../../domain/app.ts'
import type { Door } from '../../http/door.ts'
import { setAppStatus } from '../../operations/apps/change-app.ts'
import { inspectApp, type InspectedApp } from '../../operations/apps/overview.ts'
import { AppStatusBadge } from '../components/badges.tsx'
import { Form } from '../components/form.tsx'
import { Time } from '../components/values.tsx'
import { emptyForm, receiveFromOperator } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { noticeFor } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { installCountsInWords } from '../words.ts'
import {
  onTheDesk,
  auditPath,
  deskAppPath,
  DeskPage,
  deskPaths,
  MixedScripts,
  reviewPath,
  userPath,
} from './desk-page.tsx'

const notices = {
  suspended: 'The app is suspended. Its secrets and tokens have stopped working.',
  active: 'The app is active. Its secrets and all tokens that have not expired work again.',
} as const satisfies Record<AppStatus, string>

/** One app, with a form that suspends or activates it. */
export const deskAppRoutes = (door: Door) =>
  new Elysia()
    .get('/desk/apps/:slug', async ({ request, params: { slug } }) => {
      const visit = await requireOperator(door, request)
      const app = await inspectApp(door.platform, slug)
      return page(<DeskAppPage visit={visit} app={app} notice={noticeFor(visit, notices)} />)
    })
    .post(
      '/desk/apps/:slug/suspend',
      async ({ request, params: { slug } }) => await setStatus(door, request, slug, 'suspended'),
    )
    .post(
      '/desk/apps/:slug/activate',
      async ({ request, params: { slug } }) => await setStatus(door, request, slug, 'active'),
    )

/** Setting the status that the app already has changes nothing, so the form may be sent twice. */
const setStatus = async (door: Door, request: Request, slug: string, status: AppStatus): Promise<Response> => {
  const { visit } = await receiveFromOperator(door, request, emptyForm)
  const { platform, trace, actor } = onTheDesk(visit)
  await inspectApp(platform, slug)
  await setAppStatus(platform, trace, actor, { slug, status })
  return seeOther(`${deskAppPath(slug)}?done=${status}`)
}

type DeskAppPageProps = { readonly visit: Visit; readonly app: InspectedApp; readonly notice: string | null }

const DeskAppPage = ({ visit, app, notice }: DeskAppPageProps) => (
  <DeskPage title={app.name} visit={visit} tab={deskPaths.apps} notice={notice}>
    <Facts app={app} />
    <StatusChange visit={visit} app={app} />
  </DeskPage>
)

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
    <dd>
      <VersionLink slug={app.slug} version={app.live} />
    </dd>
    <dt>Waiting for review</dt>
    <dd>
      <VersionLink slug={app.slug} version={app.submitted} />
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
    <dt>Events</dt>
    <dd>
      <a href={auditPath({ app: app.slug })}>App audit log</a>
    </dd>
  </dl>
)

const Scope = ({ name }: { readonly name: string }) => (
  <>
    <code>{name}</code>{' '}
  </>
)

type VersionLinkProps = { readonly slug: string; readonly version: InspectedApp['live'] }
const VersionLink = ({ slug, version }: VersionLinkProps) =>
  version === null ? <>None</> : <a href={reviewPath(slug, version.version)}>{version.version}</a>

const StatusChange = ({ visit, app }: Omit<DeskAppPageProps, 'notice'>) => {
  if (app.deletedAt !== null) {
    return (
      <p>
        This app is deleted. After 7 days everything except its audit log is removed. Until then this command restores
        it as a suspended app: <code>app-platform app undelete {app.slug}</code>
      </p>
    )
  }
  return app.status === 'active' ? (
    <section aria-labelledby="suspend">
      <h2 id="suspend">Suspend this app</h2>
      <p>
        All its secrets and tokens stop working at once, and nobody can sign in to it. Nothing is deleted. If you
        activate the app again, everything that has not expired by then works again.
      </p>
      <Form action={deskAppPath(app.slug, 'suspend')} visit={visit}>
        <button type="submit" class="danger small">
          Suspend the app
        </button>
      </Form>
    </section>
  ) : (
    <section aria-labelledby="activate">
      <h2 id="activate">Activate this app</h2>
      <p>Its secrets work again at once, and so do all tokens that have not expired or been revoked.</p>
      <Form action={deskAppPath(app.slug, 'activate')} visit={visit}>
        <button type="submit" class="small">
          Activate the app
        </button>
      </Form>
    </section>
  )
}
