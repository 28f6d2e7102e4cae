import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { renameApp } from '../../operations/apps/change-app.ts'
import { appOverview } from '../../operations/apps/overview.ts'
import { AppStatusBadge } from '../design/badge.tsx'
import { Field, Form, Problem } from '../design/field.tsx'
import { Facts, Time } from '../design/values.tsx'
import { answerForm, asOwner, formOf, receiveFromUser, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { Checklist, StatusCards } from './overview-status.tsx'
import { ClientId, consoleAppPath, type OwnApp, ownAppOf, OwnAppPage, requireOwnApp } from './own-app.tsx'

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
      const { name } = fields
      return await answerForm(renameApp(...asOwner(visit, slug), { slug, name }), {
        done: () => seeOther(`${consoleAppPath(slug)}?done=name`),
        refused: async (error) => await show(await ownAppOf(visit, slug), { name, error }),
      })
    })

/** A name that was refused. */
type RefusedName = { readonly name: string; readonly error: PlatformError }

const show = async ({ visit, app }: OwnApp, refused: RefusedName | null): Promise<Response> => {
  const overview = await appOverview(visit.door.platform, app)
  const error = refused?.error ?? null
  return page(
    <OwnAppPage visit={visit} app={app} tab="" title={app.name} notices={notices}>
      <p>
        <AppStatusBadge status={app.status} /> <code>{app.slug}</code>
      </p>
      <StatusCards slug={app.slug} overview={overview} />
      <Checklist slug={app.slug} overview={overview} />
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
      <Problem error={error} />
      <Form action={consoleAppPath(app.slug, 'name')} visit={visit}>
        <Field
          label="Name"
          name="name"
          hint="Users see this name the next time the app asks for their consent."
          error={error}
          input={{ value: refused?.name ?? app.name, required: true, maxLength: 200 }}
        />
        <button type="submit">Rename the app</button>
      </Form>
    </OwnAppPage>,
    { refusal: error },
  )
}
