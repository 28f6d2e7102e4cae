import { type Environment, environments } from '../../domain/app.ts'
import { hasRight } from '../../domain/member.ts'
import { maximumRedirectUris } from '../../domain/registered-url.ts'
import type { Door } from '../../http/door.ts'
import { pageInMemory } from '../../operations/page.ts'
import { addRedirectUri, listRedirectUris } from '../../operations/redirect-uris.ts'
import { changed } from '../change.tsx'
import { confirmPath } from '../confirmation.tsx'
import { environmentNames } from '../design/badge.tsx'
import { Field } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { Count, FilterBar, isLong, noMatch, Pager } from '../design/list-tools.tsx'
import { formOf, optionalText, text } from '../form.ts'
import { list, listRoutes, order, search, timeOrders } from '../list.ts'
import { page, seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { addressOf, backTo, listPath } from '../query.ts'
import { UriList } from '../uri-list.tsx'
import type { Visit } from '../visit.ts'
import { Allowed, consoleAppPath, environmentField, type OwnApp, ownAppOf, OwnAppPage } from './own-app.tsx'
import { mayInActiveApp } from '../../operations/acting-as.ts'

const notices = {
  'uri-added': 'The redirect URI is registered and works from now on.',
  'uri-removed': 'The redirect URI is removed and is refused from now on.',
} as const

const uriForm = formOf({ environment: environmentField, uri: text, back: optionalText })

const uris = list(
  'uris',
  '/console/:slug/redirect-uris',
  {
    q: search('Part of the address'),
    sort: order([['address', 'Address'], ...timeOrders]),
  },
  { parts: { development: ['q'], production: ['q'] } },
)

/** The addresses that users return to. In a suspended app URIs can be removed, but not added. */
export const redirectUriRoutes = (door: Door) =>
  listRoutes(door, uris, { by: 'user', show }).use(
    changed(door, uris.path, {
      by: 'user',
      proof: 'asked',
      form: uriForm,
      show,
      act: async ({ visit, fields: { environment, uri, back }, ticket }, { slug }) => {
        // Copied text often has a space before or after it. No redirect URI has one.
        await visit
          .as(mayInActiveApp(slug, 'settings'), ticket)
          .do(addRedirectUri, { slug, environment, uri: uri.trim() })
        return seeOther(backTo(consoleAppPath(slug, 'redirect-uris'), back, 'uri-added'))
      },
      again: (_, { slug }) => ({ href: consoleAppPath(slug, 'redirect-uris'), name: 'See the redirect URIs' }),
    }),
  )

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const { app } = await ownAppOf(visit, slug)
  const path = consoleAppPath(app.slug, 'redirect-uris')
  const asked = uris.read(visit, { slug })
  const { q, sort } = asked.values
  const { redirectUris } = await listRedirectUris(visit.door.platform, app.slug, sort)
  // There are few, so they are searched and divided into pages in memory.
  const partOf = async (environment: Environment) => {
    const found = redirectUris[environment].filter((uri) => uri.includes(q))
    return await asked.rows(async (window) => pageInMemory(found, window, positionOf), environment)
  }
  const parts = { development: await partOf('development'), production: await partOf('production') }
  return page(
    <OwnAppPage visit={visit} app={app} tab="redirect-uris" title="Redirect URIs" notices={notices}>
      <p>
        After users allow or deny access, they return to a registered redirect URI, and to no other address. Development
        and production have separate URIs. The URI that an app sends must be identical, byte for byte.
      </p>
      <FilterBar of={asked} isShown={isLong({ rows: Object.values(redirectUris).flat() })} />
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
            empty={noMatch(parts[environment], noUri)}
          />
          <Pager of={parts[environment]} label={`Pages of redirect URIs for ${environment}`} />
          <Allowed app={app} right="settings">
            <AddUri visit={visit} app={app} environment={environment} />
          </Allowed>
        </section>
      ))}
      <Rules />
    </OwnAppPage>,
  )
}

const noUri = 'None yet. Users cannot return to this app, so they cannot give it access here.'

/** A whole URI can be too long for a cursor. */
const positionOf = (uri: string): string => Bun.hash(uri).toString(36)

const AddUri = ({ visit, app, environment }: OwnApp & { readonly environment: Environment }) => (
  <Form
    action={consoleAppPath(app.slug, 'redirect-uris')}
    visit={visit}
    hidden={{ environment, back: addressOf(visit) }}
    asks={proveFirst(visit)}
  >
    <Field
      id={`uri-${environment}`}
      label={`New redirect URI for ${environment}`}
      name="uri"
      input={{ placeholder: 'https://app.example/callback', required: true, spellcheck: false }}
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
      <li>{`An app has a URI in one of its environments. At most ${maximumRedirectUris} for each environment.`}</li>
      <li>Other apps may register the same URI. Nobody owns one, and users see the name of the app.</li>
    </ul>
    <p class="muted">
      When you remove a URI, sign-ins that are in progress with it fail, and codes that were sent to it are invalid.
      Tokens that were issued before keep working.
    </p>
  </section>
)
