import { Elysia } from 'elysia'
import { environments } from '../../domain/app.ts'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { ownsActiveApp } from '../../operations/apps/app-record.ts'
import { renameApp } from '../../operations/apps/change-app.ts'
import { type AppOverview, appOverview } from '../../operations/apps/overview.ts'
import { AppStatusBadge, environmentNames } from '../components/badges.tsx'
import { Field, Form, Problem } from '../components/form.tsx'
import { Copyable, Time } from '../components/values.tsx'
import { answerForm, asUser, formOf, receiveFromUser, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { noticeFor } from '../query.ts'
import { Checklist, StatusCards } from './overview-status.tsx'
import { consoleAppPath, type OwnApp, ownAppOf, OwnAppPage, requireOwnApp } from './own-app.tsx'

const notices = {
  app: 'Your app is registered. The list below leads to its first call.',
  name: 'The app is renamed.',
} as const

const nameForm = formOf({ name: text })

/** An app at a glance, and the form that renames it. */
export const appOverviewRoutes = (door: Door) =>
  new Elysia()
    .get(
      '/console/:slug',
      async ({ request, params: { slug } }) => await show(await requireOwnApp(door, request, slug), null),
    )
    .post('/console/:slug/name', async ({ request, params: { slug } }) => {
      const { visit, fields } = await receiveFromUser(door, request, nameForm)
      const { platform, trace, actor } = asUser(visit, ownsActiveApp(visit.userId, slug))
      const { name } = fields
      return await answerForm(renameApp(platform, trace, actor, { slug, name }), {
        done: () => seeOther(`${consoleAppPath(slug)}?done=name`),
        refused: async (error) => await show(await ownAppOf(visit, slug), { name, error }),
      })
    })

/** A name that was refused. */
type RefusedName = { readonly name: string; readonly error: PlatformError }

const show = async ({ visit, app }: OwnApp, refused: RefusedName | null): Promise<Response> => {
  const overview = await appOverview(visit.door.platform, app)
  const notice = noticeFor(visit, notices)
  return page(<OverviewPage visit={visit} app={app} overview={overview} notice={notice} refused={refused} />, {
    refusal: refused?.error ?? null,
  })
}

type OverviewPageProps = OwnApp & {
  readonly overview: AppOverview
  readonly notice: string | null
  readonly refused: RefusedName | null
}

const OverviewPage = ({ visit, app, overview, notice, refused }: OverviewPageProps) => (
  <OwnAppPage visit={visit} app={app} tab="" title={app.name} notice={notice}>
    <p>
      <AppStatusBadge status={app.status} /> <code>{app.slug}</code>
    </p>
    <StatusCards slug={app.slug} overview={overview} />
    <Checklist slug={app.slug} overview={overview} />
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
    <h2>Rename the app</h2>
    <Problem error={refused?.error ?? null} />
    <Form action={consoleAppPath(app.slug, 'name')} visit={visit}>
      <Field
        label="Name"
        name="name"
        hint="Users see this name the next time the app asks for their consent."
        error={refused?.error ?? null}
        input={{ value: refused?.name ?? app.name, required: true, maxLength: 200 }}
      />
      <button type="submit" class="secondary">
        Rename the app
      </button>
    </Form>
  </OwnAppPage>
)
