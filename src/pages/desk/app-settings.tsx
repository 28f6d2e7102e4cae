import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { environments } from '../../domain/app.ts'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { changeAppScopes, renameApp } from '../../operations/apps/apps.ts'
import type { InspectedApp } from '../../operations/apps/lists.ts'
import { addRedirectUri, listRedirectUris } from '../../operations/redirect-uris.ts'
import { giveScope, readCatalogue } from '../../operations/scopes/scopes.ts'
import { changed } from '../change.tsx'
import { environmentNames } from '../design/badge.tsx'
import { Field, SelectField } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ScopeChoice, wordsOf } from '../design/scopes.tsx'
import { formOf, text, texts } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { listPath } from '../query.ts'
import { UriList } from '../uri-list.tsx'
import { requireOperator, type Visit } from '../visit.ts'
import { DeskAppPage, undeletedApp } from './app.tsx'
import { deskAppPath, scopePath } from './desk-page.tsx'

const notices = {
  renamed: 'The app has the new name. Users see it from now on.',
  scopes: 'The scopes are saved.',
  given: 'The app may register the scope now.',
  taken: 'The app, its grants and its tokens do not have the scope any more.',
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
const givenForm = formOf({ scope: text })
const uriForm = formOf({ environment: environmentChoice, uri: text })

const pattern = '/desk/apps/:slug/settings'
const settingsPath = (slug: string, ...rest: readonly string[]): string => deskAppPath(slug, 'settings', ...rest)

/** The name, the scopes and the redirect URIs of an app. */
export const deskAppSettingRoutes = (door: Door) =>
  new Elysia()
    .get(pattern, async ({ request, params }) => await show(await requireOperator(door, request), params))
    .use(
      changed(door, `${pattern}/name`, {
        by: 'operator',
        proof: 'none',
        form: nameForm,
        show,
        act: async ({ visit, fields: { name } }, { slug }) => {
          await undeletedApp(door, slug)
          await visit.asOperator().do(renameApp, { slug, name })
          return seeOther(`${settingsPath(slug)}?done=renamed`)
        },
      }),
    )
    .use(
      changed(door, `${pattern}/scopes`, {
        by: 'operator',
        proof: 'asked',
        form: scopesForm,
        show,
        act: async ({ visit, fields: { scopes } }, { slug }) => {
          await undeletedApp(door, slug)
          await visit.asOperator().do(changeAppScopes, { slug, scopes: scopes.join(' ') })
          return seeOther(`${settingsPath(slug)}?done=scopes`)
        },
      }),
    )
    .use(
      changed(door, `${pattern}/given-scopes`, {
        by: 'operator',
        proof: 'asked',
        form: givenForm,
        show,
        act: async ({ visit, fields: { scope: name } }, { slug }) => {
          await undeletedApp(door, slug)
          await visit.asOperator().do(giveScope, { slug, name })
          return seeOther(`${settingsPath(slug)}?done=given`)
        },
      }),
    )
    .use(
      changed(door, `${pattern}/redirect-uris`, {
        by: 'operator',
        proof: 'asked',
        form: uriForm,
        show,
        act: async ({ visit, fields: { environment, uri }, ticket }, { slug }) => {
          await undeletedApp(door, slug)
          await visit.asOperator({ ticket }).do(addRedirectUri, { slug, environment, uri: uri.trim() })
          return seeOther(`${settingsPath(slug)}?done=uri-added`)
        },
      }),
    )

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const app = await undeletedApp(visit.door, slug)
  const { platform } = visit.door
  const { redirectUris } = await listRedirectUris(platform, slug)
  const catalogue = await readCatalogue(platform)
  return page(
    <DeskAppPage title="Settings" app={app} part="settings" visit={visit} notices={notices}>
      <h2>Name</h2>
      <Form action={settingsPath(slug, 'name')} visit={visit} class="measure">
        <Field
          label="Name"
          name="name"
          hint="Users see this name when the app asks for their consent. The slug stays."
          input={{ value: app.name, required: true, maxLength: 200, autocomplete: 'off' }}
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
      <Form action={settingsPath(slug, 'redirect-uris')} visit={visit} class="measure" asks={proveFirst(visit)}>
        <Field
          label="New redirect URI"
          name="uri"
          hint="HTTPS, without a fragment, and as browsers write it."
          input={{
            required: true,
            spellcheck: false,
            placeholder: 'https://app.example/callback',
          }}
        />
        <SelectField label="Environment" name="environment" options={environmentOptions} value="development" />
        <button type="submit">Register the URI</button>
      </Form>
      <h2>Scopes</h2>
      <Form action={settingsPath(slug, 'scopes')} visit={visit} asks={proveFirst(visit)}>
        <ScopeChoice catalogue={catalogue} chosen={app.scopes} given={app.givenScopes} />
        <p class="muted">
          A scope that you withdraw is refused in new tokens, consents and versions. What was granted before stays.
        </p>
        <button type="submit">Save the scopes</button>
      </Form>
      <GivenScopes visit={visit} app={app} catalogue={catalogue} />
    </DeskAppPage>,
  )
}

type GivenScopesProps = { readonly visit: Visit; readonly app: InspectedApp; readonly catalogue: ScopeCatalogue }

/** Restricted scopes of the operator, which an app can register only after it was given them. */
const GivenScopes = ({ visit, app: { slug, givenScopes }, catalogue }: GivenScopesProps) => {
  const others = [...catalogue].filter(
    ([name, { availability, callers }]) =>
      availability === 'restricted' && callers.length > 0 && !givenScopes.some((given) => given === name),
  )
  if (givenScopes.length === 0 && others.length === 0) return null
  return (
    <>
      <h2>Restricted scopes</h2>
      <RowList
        label="Restricted scopes"
        rows={givenScopes}
        row={(name) => (
          <Row
            key={name}
            href={scopePath(name)}
            title={<code>{name}</code>}
            facts={[<bdi>{wordsOf(catalogue, name)}</bdi>]}
            actions={
              <a class="button small" href={listPath(settingsPath(slug, 'given-scopes', 'take'), { scope: name })}>
                Take back<span class="unseen"> {name}</span>
              </a>
            }
          />
        )}
        empty={<p class="muted">This app was given no restricted scope.</p>}
      />
      {others.length === 0 ? null : (
        <Form action={settingsPath(slug, 'given-scopes')} visit={visit} class="measure" asks={proveFirst(visit)}>
          <SelectField
            label="Give it a restricted scope"
            name="scope"
            hint="The app can register it then. It does not have it before."
            options={others.map(([name, { words }]) => [name, `${name}: ${words}`] as const)}
          />
          <button type="submit">Give the scope</button>
        </Form>
      )}
    </>
  )
}
