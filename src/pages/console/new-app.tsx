import { sentBefore } from '../confirmation.tsx'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { createApp } from '../../operations/apps/create-app.ts'
import { listOwnApps } from '../../operations/apps/lists.ts'
import { Field, Problem } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { always, answerForm, asUser, formOf, receiveFromUser, text, texts } from '../form.ts'
import { Layout } from '../design/shell.tsx'
import { page, seeOther } from '../page.ts'
import { requireVisit, type Visit } from '../visit.ts'
import { consoleAppPath, newAppPath, yourApps } from './own-app.tsx'
import { ScopeChoice } from '../design/scopes.tsx'
import { slugHint } from '../words.ts'

const newAppForm = formOf({ name: text, slug: text, scopes: texts })

type NewAppValues = { readonly name: string; readonly slug: string; readonly scopes: readonly string[] }
/** Nearly every app that people sign in to asks who they are. */
const emptyValues: NewAppValues = { name: '', slug: '', scopes: ['profile:read'] }

/** The form that registers an app. */
export const newAppRoutes = (door: Door) =>
  new Elysia()
    .get(newAppPath, async ({ request }) => showForm(await requireVisit(door, request), emptyValues, null))
    .post(newAppPath, async ({ request }) => await create(door, request))

const showForm = (visit: Visit, values: NewAppValues, error: PlatformError | null): Response =>
  page(
    <Layout title="Create an app" belongsTo="Console" visit={visit} section="console" crumbs={[yourApps]}>
      <div class="console">
        <Problem error={error} />
        <Form action={newAppPath} visit={visit}>
          <Field
            label="Name"
            name="name"
            hint="Users see this name when the app asks for their consent. You can change it later."
            error={error}
            input={{ value: values.name, required: true, maxLength: 200 }}
          />
          <Field
            label="Slug"
            name="slug"
            hint={slugHint}
            error={error}
            input={{ value: values.slug, required: true, maxLength: 63, spellcheck: false }}
          />
          <ScopeChoice chosen={values.scopes} error={error} />
          <p class="muted">Choose what you need now. You can add and withdraw scopes later.</p>
          <button type="submit" class="primary">
            Create the app
          </button>
        </Form>
      </div>
    </Layout>,
    { refusal: error },
  )

/** Every signed-in person may register an app, up to the quota. */
const create = async (door: Door, request: Request): Promise<Response> => {
  const { visit, fields, ticket } = await receiveFromUser(door, request, newAppForm)
  const { name, slug, scopes } = fields
  const input = { ownerEmail: visit.session.user.email, name, slug, scopes: scopes.join(' ') }
  return await answerForm(createApp(...asUser(visit, always, ticket), input), {
    done: (app) => seeOther(`${consoleAppPath(app.slug)}?done=app`),
    refused: (error) => showForm(visit, { name, slug, scopes }, error),
    sentBefore: async () => {
      const own = await listOwnApps(door.platform, visit.userId)
      return own.some((app) => app.slug === slug)
        ? sentBefore({ visit, message: createdBefore, href: consoleAppPath(slug), name: 'Go to the app' })
        : sentBefore({ visit, message: refusedBefore, href: newAppPath, name: 'Open a new form' })
    },
  })
}

const createdBefore = 'This form was sent before and has registered your app. Nothing was done a second time.'
const refusedBefore =
  'This form was sent before and has registered nothing. Each form can be sent once, so open a new one.'
