import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import { resourceKinds } from '../../domain/resource.ts'
import type { Door } from '../../http/door.ts'
import { createInstall } from '../../operations/installs/create-install.ts'
import { Field, Problem, SelectField } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { answerForm, formOf, receiveFromOperator, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { parameterOf } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { resourceKindWords } from '../words.ts'
import { DeskPage, deskPaths, onTheDesk } from './desk-page.tsx'

const kindChoice = Type.Union(resourceKinds.map((kind) => Type.Literal(kind)))
const newInstallForm = formOf({ app: text, user: text, kind: kindChoice, resource: text })

type Values = { readonly app: string; readonly user: string; readonly kind: string; readonly resource: string }

/** The form that installs an app for a user. */
export const deskNewInstallRoutes = (door: Door) =>
  new Elysia()
    .get(deskPaths.newInstall, async ({ request }) => {
      const visit = await requireOperator(door, request)
      return showForm(visit, { app: parameterOf(visit, 'app'), user: '', kind: 'site', resource: '' }, null)
    })
    .post(deskPaths.newInstall, async ({ request }) => {
      const { visit, fields, ticket } = await receiveFromOperator(door, request, newInstallForm)
      const { app: slug, user: userEmail, kind, resource: resourceSlug } = fields
      const input = { slug, userEmail, kind, resourceSlug }
      return await answerForm(createInstall(...onTheDesk(visit, undefined, ticket), input), {
        done: ({ state }) => seeOther(`${deskPaths.installs}?done=${state === 'active' ? 'installed' : 'created'}`),
        refused: (error) => showForm(visit, fields, error),
      })
    })

const showForm = (visit: Visit, values: Values, error: PlatformError | null): Response =>
  page(
    <DeskPage
      title="Install an app for a user"
      about="The install waits for approval, unless installs are approved automatically. The user is not asked."
      visit={visit}
      tab={deskPaths.installs}
    >
      <Problem error={error} />
      <Form action={deskPaths.newInstall} visit={visit} class="measure">
        <Field
          label="App"
          name="app"
          hint="The slug of the app. It gets the scopes of its live version, or none without a live version."
          error={error}
          input={{ value: values.app, required: true, maxLength: 63, spellcheck: false, autocomplete: 'off' }}
        />
        <Field
          label="User’s email address"
          name="user"
          error={error}
          input={{ type: 'email', value: values.user, required: true, maxLength: 254, autocomplete: 'off' }}
        />
        <SelectField
          label="Kind"
          name="kind"
          error={error}
          options={resourceKinds.map((kind) => [kind, resourceKindWords[kind]])}
          value={values.kind}
        />
        <Field
          label="Slug of the website or store"
          name="resource"
          hint="It must belong to this user."
          error={error}
          input={{ value: values.resource, required: true, maxLength: 200, spellcheck: false, autocomplete: 'off' }}
        />
        <button type="submit" class="primary">
          Install
        </button>
      </Form>
    </DeskPage>,
    { refusal: error },
  )
