import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import { scopeCatalogue } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { createApp } from '../../operations/apps/create-app.ts'
import { Field, Problem } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { ScopeChoice } from '../design/scopes.tsx'
import { answerForm, formOf, receiveFromOperator, text, texts } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { parameterOf } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { deskAppPath, DeskPage, deskPaths, onTheDesk } from './desk-page.tsx'
import { slugHint } from '../words.ts'

const newAppForm = formOf({ owner: text, name: text, slug: text, scopes: texts })

type Values = {
  readonly owner: string
  readonly name: string
  readonly slug: string
  readonly scopes: readonly string[]
}

/** The scope that nearly every app needs. */
const firstScope = 'profile:read' satisfies keyof typeof scopeCatalogue

/** The form that registers an app for a user. */
export const deskNewAppRoutes = (door: Door) =>
  new Elysia()
    .get(deskPaths.newApp, async ({ request }) => {
      const visit = await requireOperator(door, request)
      return showForm(visit, { owner: parameterOf(visit, 'owner'), name: '', slug: '', scopes: [firstScope] }, null)
    })
    .post(deskPaths.newApp, async ({ request }) => {
      const { visit, fields, ticket } = await receiveFromOperator(door, request, newAppForm)
      const { owner, name, slug, scopes } = fields
      const input = { ownerEmail: owner, name, slug, scopes: scopes.join(' ') }
      return await answerForm(createApp(...onTheDesk(visit, undefined, ticket), input), {
        done: (app) => seeOther(`${deskAppPath(app.slug)}?done=created`),
        refused: (error) => showForm(visit, fields, error),
      })
    })

const showForm = (visit: Visit, values: Values, error: PlatformError | null): Response =>
  page(
    <DeskPage title="Create an app" visit={visit} tab={deskPaths.apps}>
      <Problem error={error} />
      <Form action={deskPaths.newApp} visit={visit} class="measure">
        <Field
          label="Owner’s email address"
          name="owner"
          hint="An active user. They manage the app in the console."
          error={error}
          input={{ type: 'email', value: values.owner, required: true, maxLength: 254, autocomplete: 'off' }}
        />
        <Field
          label="Name"
          name="name"
          hint="Users see this name when the app asks for their consent."
          error={error}
          input={{ value: values.name, required: true, maxLength: 200, autocomplete: 'off' }}
        />
        <Field
          label="Slug"
          name="slug"
          hint={slugHint}
          error={error}
          input={{ value: values.slug, required: true, maxLength: 63, spellcheck: false, autocomplete: 'off' }}
        />
        <ScopeChoice chosen={values.scopes} error={error} />
        <button type="submit" class="primary">
          Create the app
        </button>
      </Form>
    </DeskPage>,
    { refusal: error },
  )
