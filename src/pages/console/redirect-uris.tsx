import { confirmPath, sentBefore } from '../confirmation.tsx'
import { Elysia } from 'elysia'
import { type Environment, environments } from '../../domain/app.ts'
import type { PlatformError } from '../../domain/errors.ts'
import { hasRight } from '../../domain/member.ts'
import { maximumRedirectUris } from '../../domain/registered-url.ts'
import type { Door } from '../../http/door.ts'
import { pageInMemory } from '../../operations/page.ts'
import { addRedirectUri, listRedirectUris } from '../../operations/redirect-uris.ts'
import { environmentNames } from '../design/badge.tsx'
import { Field, Problem } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { Count, FilterBar, manyRows, Pager } from '../design/list-tools.tsx'
import { answerForm, asMember, formOf, optionalText, receiveFromUser, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { addressOf, backTo, listPath, type ListPart, parameterOf, readList, sortOf, timeOrders } from '../query.ts'
import { UriList } from '../uri-list.tsx'
import type { Visit } from '../visit.ts'
import {
  Allowed,
  consoleAppPath,
  environmentField,
  type OwnApp,
  ownAppOf,
  OwnAppPage,
  requireOwnApp,
} from './own-app.tsx'

const notices = {
  'uri-added': 'The redirect URI is registered and works from now on.',
  'uri-removed': 'The redirect URI is removed and is refused from now on.',
} as const

const uriForm = formOf({ environment: environmentField, uri: text, back: optionalText })

const orders = [['address', 'Address'], ...timeOrders] as const

const pattern = '/console/:slug/redirect-uris'

/** The addresses that users return to. In a suspended app URIs can be removed, but not added. */
export const redirectUriRoutes = (door: Door) =>
  new Elysia()
    .get(pattern, async ({ request, params: { slug } }) => await show(await requireOwnApp(door, request, slug), null))
    .post(pattern, async ({ request, params: { slug } }) => await add(door, request, slug))

const add = async (door: Door, request: Request, slug: string): Promise<Response> => {
  const { visit, fields, ticket } = await receiveFromUser(door, request, uriForm)
  const { environment, uri, back } = fields
  const path = consoleAppPath(slug, 'redirect-uris')
  // Copied text often has a space before or after it. No redirect URI has one.
  return await answerForm(
    addRedirectUri(...asMember(visit, slug, 'settings', ticket), { slug, environment, uri: uri.trim() }),
    {
      done: () => seeOther(backTo(path, back, 'uri-added')),
      refused: async (error) => await show(await ownAppOf(visit, slug), { environment, uri, error }),
      sentBefore: () => sentBefore({ visit, href: path, name: 'See the redirect URIs' }),
    },
  )
}

/** A URI that was refused, to be shown again with the reason. */
type RefusedUri = { readonly environment: Environment; readonly uri: string; readonly error: PlatformError }

const show = async ({ visit, app }: OwnApp, refused: RefusedUri | null): Promise<Response> => {
  const path = consoleAppPath(app.slug, 'redirect-uris')
  const part = parameterOf(visit, 'q')
  const { order, sort } = sortOf(visit.call.request, orders, 'address')
  const { redirectUris } = await listRedirectUris(visit.door.platform, app.slug, order)
  const parts = {
    development: await partOf(visit, path, { q: part, sort }, 'development', redirectUris.development),
    production: await partOf(visit, path, { q: part, sort }, 'production', redirectUris.production),
  }
  const error = refused?.error ?? null
  return page(
    <OwnAppPage visit={visit} app={app} tab="redirect-uris" title="Redirect URIs" notices={notices}>
      <Problem error={error} />
      <p>
        After users allow or deny access, they return to a registered redirect URI, and to no other address. Development
        and production have separate URIs. The URI that an app sends must be identical, byte for byte.
      </p>
      {part === '' && redirectUris.development.length + redirectUris.production.length < manyRows ? null : (
        <FilterBar
          path={path}
          fields={[
            { kind: 'search', name: 'q', label: 'Part of the address', value: part },
            { kind: 'choice', name: 'sort', label: 'Order', options: orders, selected: order, usual: 'address' },
          ]}
        />
      )}
      {environments.map((environment) => (
        <section aria-labelledby={`uris-${environment}`} key={environment}>
          <h2 id={`uris-${environment}`}>
            {environmentNames[environment]} <Count of={redirectUris[environment].length} />
          </h2>
          <UriList
            uris={parts[environment].rows}
            removal={
              hasRight(app.role, 'settings')
                ? (uri) => confirmPath(listPath(`${path}/remove`, { environment, uri }), visit)
                : null
            }
            empty={part === '' ? noUri : 'No redirect URI matches.'}
          />
          <Pager
            {...parts[environment]}
            shown={parts[environment].rows.length}
            label={`Pages of redirect URIs for ${environment}`}
          />
          <Allowed app={app} right="settings">
            <AddUri
              visit={visit}
              app={app}
              environment={environment}
              refused={refused?.environment === environment ? refused : null}
            />
          </Allowed>
        </section>
      ))}
      <Rules />
    </OwnAppPage>,
    { refusal: error },
  )
}

/** The URIs of an environment that match. There are few, so they are sorted and divided into pages in memory. */
const partOf = async (
  visit: Visit,
  path: string,
  { q, sort }: Readonly<Record<'q' | 'sort', string>>,
  environment: Environment,
  uris: readonly string[],
): Promise<ListPart<string>> => {
  const found = uris.filter((uri) => uri.includes(q))
  const place = { list: `${environment}-uris-${sort}`, path, query: { q, sort }, param: environment }
  return await readList(visit, place, async (window) => pageInMemory(found, window, positionOf))
}

const noUri = 'None yet. Users cannot return to this app, so they cannot give it access here.'

/** A whole URI can be too long for a cursor. */
const positionOf = (uri: string): string => Bun.hash(uri).toString(36)

type AddUriProps = OwnApp & { readonly environment: Environment; readonly refused: RefusedUri | null }

const AddUri = ({ visit, app, environment, refused }: AddUriProps) => (
  <Form
    action={consoleAppPath(app.slug, 'redirect-uris')}
    visit={visit}
    hidden={{ environment, back: addressOf(visit) }}
  >
    <Field
      id={`uri-${environment}`}
      label={`New redirect URI for ${environment}`}
      name="uri"
      error={refused?.error ?? null}
      input={{
        value: refused?.uri ?? '',
        placeholder: 'https://app.example/callback',
        required: true,
        spellcheck: false,
      }}
    />
    <button type="submit">Register</button>
  </Form>
)

const Rules = () => (
  <section aria-labelledby="uri-rules">
    <h2 id="uri-rules">Rules for redirect URIs</h2>
    <ul>
      <li>HTTPS, in development too, so that the code cannot be read in transit.</li>
      <li>No fragment (#), no wildcard (*), and no user name or password before the host.</li>
      <li>
        Written as browsers write it: the host in lower case, no default port, no <code>..</code> in the path.
      </li>
      <li>No code, state, iss or error in the query, because the answer adds them.</li>
      <li>{`Each URI belongs to one app and one environment. At most ${maximumRedirectUris} for each environment.`}</li>
    </ul>
    <p class="muted">
      When you remove a URI, sign-ins that are in progress with it fail, and codes that were sent to it are invalid.
      Tokens that were issued before keep working.
    </p>
  </section>
)
