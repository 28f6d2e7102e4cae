import { Elysia } from 'elysia'
import type { AppStatus } from '../../domain/app.ts'
import type { Door } from '../../http/door.ts'
import { setAppStatus } from '../../operations/apps/change-app.ts'
import { inspectApp, type InspectedApp } from '../../operations/apps/overview.ts'
import { AppStatusBadge } from '../design/badge.tsx'
import { ButtonForm } from '../design/field.tsx'
import { Facts, Lines, Time } from '../design/values.tsx'
import { emptyForm, receiveFromOperator } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { installCountsInWords } from '../words.ts'
import {
  onTheDesk,
  auditPath,
  deskAppPath,
  DeskPage,
  deskPaths,
  mixedScriptsFact,
  Owner,
  reviewPath,
} from './desk-page.tsx'

const notices = {
  suspended: 'The app is suspended. Its secrets and tokens have stopped working.',
  active: 'The app is active. Its secrets and all tokens that have not expired work again.',
} as const satisfies Record<AppStatus, string>

const pattern = '/desk/apps/:slug'

/** One app, with a form that suspends or activates it. */
export const deskAppRoutes = (door: Door) =>
  new Elysia()
    .get(pattern, async ({ request, params: { slug } }) => {
      const visit = await requireOperator(door, request)
      const app = await inspectApp(door.platform, slug)
      return page(
        <DeskPage title={app.name} visit={visit} tab={deskPaths.apps} notices={notices}>
          <AppFacts app={app} />
          <StatusChange visit={visit} app={app} />
        </DeskPage>,
      )
    })
    .post(`${pattern}/activate`, async ({ request, params: { slug } }) => {
      const { visit } = await receiveFromOperator(door, request, emptyForm)
      await inspectApp(door.platform, slug)
      await setAppStatus(...onTheDesk(visit), { slug, status: 'active' })
      return seeOther(`${deskAppPath(slug)}?done=active`)
    })

const AppFacts = ({ app }: { readonly app: InspectedApp }) => (
  <Facts
    of={{
      Slug: <code>{app.slug}</code>,
      ...mixedScriptsFact(app.name),
      Status: <AppStatusBadge status={app.status} deletedAt={app.deletedAt} />,
      Owner: <Owner owner={app.owner} />,
      Registered: <Time at={app.createdAt} />,
      'Scopes it may ask for': app.scopes.length === 0 ? 'None' : <code>{app.scopes.join(' ')}</code>,
      'Live version': <VersionLink slug={app.slug} version={app.live} />,
      'Waiting for review': <VersionLink slug={app.slug} version={app.submitted} />,
      Installs: <a href={`${deskPaths.installs}?app=${app.slug}&status=all`}>{installCountsInWords(app.installs)}</a>,
      'Client IDs': <Lines of={[<code>{app.clientIds.production}</code>, <code>{app.clientIds.development}</code>]} />,
      Events: <a href={auditPath({ app: app.slug })}>App audit log</a>,
    }}
  />
)

type VersionLinkProps = { readonly slug: string; readonly version: InspectedApp['live'] }
const VersionLink = ({ slug, version }: VersionLinkProps) =>
  version === null ? <>None</> : <a href={reviewPath(slug, version.version)}>{version.version}</a>

const StatusChange = ({ visit, app }: { readonly visit: Visit; readonly app: InspectedApp }) => {
  if (app.deletedAt !== null) {
    return (
      <p>
        This app is deleted. After 7 days everything except its audit log is removed. Until then this command restores
        it as a suspended app: <code>app-platform app undelete {app.slug}</code>
      </p>
    )
  }
  const { step, title, about, button } = statusChanges[app.status]
  return (
    <section aria-labelledby={step}>
      <h2 id={step}>{title}</h2>
      <p>{about}</p>
      {app.status === 'active' ? (
        <a class="button outline small" href={deskAppPath(app.slug, step)}>
          {button}
        </a>
      ) : (
        <ButtonForm action={deskAppPath(app.slug, step)} visit={visit} look="small">
          {button}
        </ButtonForm>
      )}
    </section>
  )
}

const statusChanges = {
  active: {
    step: 'suspend',
    title: 'Suspend this app',
    about: 'All its secrets and tokens stop working at once, and nobody can sign in to it. Nothing is deleted.',
    button: 'Suspend the app',
  },
  suspended: {
    step: 'activate',
    title: 'Activate this app',
    about: 'Its secrets work again at once, and so do all tokens that have not expired or been revoked.',
    button: 'Activate the app',
  },
} as const satisfies Record<AppStatus, object>
