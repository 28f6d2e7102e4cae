import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type Environment, environments } from '../../domain/app.ts'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { changeAppScopes, renameApp } from '../../operations/apps/change-app.ts'
import type { InspectedApp } from '../../operations/apps/overview.ts'
import { addRedirectUri, listRedirectUris } from '../../operations/redirect-uris.ts'
import { environmentNames } from '../design/badge.tsx'
import { Field, Problem, SelectField } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { ScopeChoice } from '../design/scopes.tsx'
import { answerForm, formOf, receiveFromOperator, text, texts } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { listPath } from '../query.ts'
import { UriList } from '../uri-list.tsx'
import { requireOperator, type Visit } from '../visit.ts'
import { DeskAppPage, undeletedApp } from './app.tsx'
import { deskAppPath, onTheDesk } from './desk-page.tsx'

const notices = {
  renamed: 'The app has the new name. Users see it from now on.',
  scopes: 'The scopes are saved.',
  'uri-added': 'The redirect URI is registered and works from now on.',
  'uri-removed': 'The redirect URI is removed and is refused from now on.',
} as const

/** The environment that a form is about. */
export const environmentChoice = Type.Union(environments.map((environment) => Type.Literal(environment)))
export const environmentOptions = environments.map(
  (environment) => [environment, environmentNames[environment]] as const,
)

const nameForm = formOf({ name: text })
const scopesForm = formOf({ scopes: texts })
const uriForm = formOf({ environment: environmentChoice, uri: text })

const pattern = '/desk/apps/:slug/settings'
const settingsPath = (slug: string, ...rest: readonly string[]): string => deskAppPath(slug, 'settings', ...rest)

/** The name, the scopes and the redirect URIs of an app. */
export const deskAppSettingRoutes = (door: Door) =>
  new Elysia()
    .get(pattern, async ({ request, params: { slug } }) => {
      const visit = await requireOperator(door, request)
      return await show(visit, await undeletedApp(door, slug), {})
    })
    .post(`${pattern}/name`, async ({ request, params: { slug } }) => {
      const { visit, fields } = await receiveFromOperator(door, request, nameForm)
      const app = await undeletedApp(door, slug)
      return await answerForm(renameApp(...onTheDesk(visit), { slug, name: fields.name }), {
        done: () => seeOther(`${settingsPath(slug)}?done=renamed`),
        refused: async (error) => await show(visit, app, { error, name: fields.name }),
      })
    })
    .post(`${pattern}/scopes`, async ({ request, params: { slug } }) => {
      const { visit, fields } = await receiveFromOperator(door, request, scopesForm)
      const app = await undeletedApp(door, slug)
      return await answerForm(changeAppScopes(...onTheDesk(visit), { slug, scopes: fields.scopes.join(' ') }), {
        done: () => seeOther(`${settingsPath(slug)}?done=scopes`),
        refused: async (error) => await show(visit, app, { error, scopes: fields.scopes }),
      })
    })
    .post(`${pattern}/redirect-uris`, async ({ request, params: { slug } }) => {
      const { visit, fields, ticket } = await receiveFromOperator(door, request, uriForm)
      const app = await undeletedApp(door, slug)
      const { environment } = fields
      const uri = fields.uri.trim()
      return await answerForm(addRedirectUri(...onTheDesk(visit, undefined, ticket), { slug, environment, uri }), {
        done: () => seeOther(`${settingsPath(slug)}?done=uri-added`),
        refused: async (error) => await show(visit, app, { error, uri: { environment, uri } }),
      })
    })

type RedirectUri = { readonly environment: Environment; readonly uri: string }

/** What was typed into one of the forms, and why it was refused. */
type Typed = {
  readonly error?: PlatformError
  readonly name?: string
  readonly scopes?: readonly string[]
  readonly uri?: RedirectUri
}

const show = async (visit: Visit, app: InspectedApp, { error, name, scopes, uri }: Typed): Promise<Response> => {
  const { slug } = app
  const { redirectUris } = await listRedirectUris(visit.door.platform, slug)
  return page(
    <DeskAppPage title="Settings" app={app} part="settings" visit={visit} notices={notices}>
      <Problem error={error} />
      <h2>Name</h2>
      <Form action={settingsPath(slug, 'name')} visit={visit} class="measure">
        <Field
          label="Name"
          name="name"
          hint="Users see this name when the app asks for their consent. The slug stays."
          error={error}
          input={{ value: name ?? app.name, required: true, maxLength: 200, autocomplete: 'off' }}
        />
        <button type="submit">Save the name</button>
      </Form>
      <h2>Redirect URIs</h2>
      {environments.map((environment) => (
        <section key={environment} aria-labelledby={`uris-${environment}`}>
          <h3 id={`uris-${environment}`}>{environmentNames[environment]}</h3>
          <UriList
            uris={redirectUris[environment]}
            removal={(uri) => listPath(settingsPath(slug, 'redirect-uris', 'remove'), { environment, uri })}
            empty="None yet. Users cannot return to this app, so they cannot give it access."
          />
        </section>
      ))}
      <Form action={settingsPath(slug, 'redirect-uris')} visit={visit} class="measure">
        <Field
          label="New redirect URI"
          name="uri"
          hint="HTTPS, without a fragment, and as browsers write it."
          error={error}
          input={{
            value: uri?.uri ?? '',
            required: true,
            spellcheck: false,
            placeholder: 'https://app.example/callback',
          }}
        />
        <SelectField
          label="Environment"
          name="environment"
          options={environmentOptions}
          value={uri?.environment ?? 'development'}
        />
        <button type="submit">Register the URI</button>
      </Form>
      <h2>Scopes</h2>
      <Form action={settingsPath(slug, 'scopes')} visit={visit}>
        <ScopeChoice chosen={scopes ?? app.scopes} error={error} />
        <p class="muted">
          A scope that you withdraw is refused in new tokens, consents and versions. What was granted before stays.
        </p>
        <button type="submit">Save the scopes</button>
      </Form>
    </DeskAppPage>,
    { refusal: error ?? null },
  )
}
