import { Elysia } from 'elysia'
import { type Environment, environments } from '../../domain/app.ts'
import type { Door } from '../../http/door.ts'
import { mayRename, nameIsReviewed } from '../../operations/acting-as.ts'
import { renameApp } from '../../operations/apps/apps.ts'
import { type AppOverview, appOverview } from '../../operations/apps/lists.ts'
import { readActivity, countActiveInstalls, listAttention, readLatestEvents } from '../../operations/counts/counts.ts'
import { changed } from '../change.tsx'
import { AppStatusBadge, environmentNames } from '../design/badge.tsx'
import { Field } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { Facts, Time } from '../design/values.tsx'
import { ActivityTiles, AttentionList, LatestEventList } from '../dashboard.tsx'
import { isNewApp, SetUp, setUpSteps } from '../set-up.tsx'
import { Tabs } from '../design/shell.tsx'
import { formOf, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { choiceParameter } from '../query.ts'
import { StatusRows } from './overview-status.tsx'
import { Allowed, ClientId, consoleAppPath, type OwnApp, ownAppOf, OwnAppPage } from './own-app.tsx'

const notices = {
  app: 'Your app is registered. The steps below lead to its first call.',
  name: 'The app is renamed.',
} as const

const nameForm = formOf({ name: text })

/** An app at a glance, and the form that renames it. */
export const appOverviewRoutes = (door: Door) =>
  new Elysia()
    .get('/console/:slug', async ({ request, params }) => await show(await requireVisit(door, request), params))
    .use(
      changed(door, '/console/:slug/name', {
        by: 'user',
        proof: 'none',
        form: nameForm,
        show,
        act: async ({ visit, fields: { name } }, { slug }) => {
          await visit.as(mayRename(slug)).do(renameApp, { slug, name })
          return seeOther(`${consoleAppPath(slug)}?done=name`)
        },
      }),
    )

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const { app } = await ownAppOf(visit, slug)
  const overview = await appOverview(visit.door.platform, app)
  const steps = setUpSteps(app.slug, overview)
  const isKnown = overview.live !== null
  return page(
    <OwnAppPage
      visit={visit}
      app={app}
      tab=""
      title={app.name}
      notices={notices}
      avatarId={app.id}
      badges={<AppStatusBadge status={app.status} />}
      about={<code>{app.slug}</code>}
    >
      {isNewApp(overview, steps) ? <SetUp steps={steps} /> : await dashboardOf({ visit, app }, overview)}
      <h2>Identity</h2>
      <Facts
        of={{
          'Development client ID': <ClientId app={app} environment="development" />,
          'Production client ID': <ClientId app={app} environment="production" />,
          'App ID': <code>{app.id}</code>,
          Registered: <Time at={app.createdAt} />,
          'Secret last used': <Time at={overview.lastUsedAt} otherwise="Never" />,
        }}
      />
      <h2>Rename the app</h2>
      <Allowed app={app} right="settings">
        <Form action={consoleAppPath(app.slug, 'name')} visit={visit}>
          <Field
            label="Name"
            name="name"
            hint={isKnown ? nameIsReviewed : 'Users see this name the next time the app asks for their consent.'}
            input={{ value: app.name, required: true, maxLength: 200 }}
          />
          <button type="submit" disabled={isKnown}>
            Rename the app
          </button>
        </Form>
      </Allowed>
    </OwnAppPage>,
  )
}

/** What an app in use shows: what to do, what was counted in one environment, its versions, and what happened last. */
const dashboardOf = async ({ visit, app }: OwnApp, overview: AppOverview) => {
  const { door, call, userId } = visit
  const asked = choiceParameter(call.request, 'environment', environments)
  const environment = asked ?? (overview.live === null ? 'development' : 'production')
  const of = { appId: app.id }
  const [attention, activity, activeInstalls, latest] = await Promise.all([
    listAttention(door.platform, of),
    readActivity(door.platform, of, environment),
    countActiveInstalls(door.platform, of, environment),
    readLatestEvents(door.platform, of, userId),
  ])
  const { slug } = app
  const pathIn = (name: Environment): string => `${consoleAppPath(slug)}?environment=${name}`
  return (
    <>
      <AttentionList items={attention.filter(({ kind }) => kind !== 'app_suspended')} namesApps={false} />
      <Tabs
        label="Environment"
        links={environments.toReversed().map((name) => ({ path: pathIn(name), name: environmentNames[name] }))}
        current={pathIn(environment)}
      />
      <ActivityTiles
        activity={activity}
        activeInstalls={activeInstalls}
        installsHref={consoleAppPath(slug, 'installs')}
        webhooksHref={consoleAppPath(slug, 'webhooks')}
      />
      <StatusRows slug={slug} overview={overview} />
      <h2>Latest events</h2>
      <LatestEventList latest={latest} now={door.platform.clock.now()} />
      <p>
        <a href={consoleAppPath(slug, 'trail')}>All events</a>
      </p>
    </>
  )
}
