import { type Environment, environments } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { maximumRedirectUris } from '../../domain/registered-url.ts'
import { mayInActiveApp, mayInApp } from '../../operations/acting-as.ts'
import { pageInMemory } from '../../operations/page.ts'
import { addRedirectUri, listRedirectUris, removeRedirectUri } from '../../operations/redirect-uris.ts'
import { changed, routes } from '../change.tsx'
import { Field } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { FilterBar, isLong } from '../design/list-tools.tsx'
import { ListRows, Row } from '../design/row-list.tsx'
import { formOf, optionalText, text } from '../form.ts'
import { list, listRoutes, order, search, timeOrders } from '../list.ts'
import { page, seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { addressOf, backTo } from '../query.ts'
import { StepButton } from '../step.tsx'
import type { Visit } from '../visit.ts'
import {
  acting,
  Allowed,
  appFor,
  AppPage,
  type AtApp,
  environmentField,
  inBoth,
  type AppPlace,
  stepsBelow,
  whyNot,
} from './app-area.tsx'

const uriForm = formOf({ environment: environmentField, uri: text, back: optionalText })

const uris = inBoth(({ key, pattern }) =>
  list(key === 'console' ? 'uris' : 'desk-uris', pattern('redirect-uris'), {
    q: search('Part of the address'),
    sort: order([['address', 'Address'], ...timeOrders]),
  }),
)

type Slug = { readonly slug: string }

/** The addresses that users return to. In a suspended app members can remove URIs, but not add any. */
export const redirectUriRoutes = (place: AppPlace) =>
  routes(() => [
    listRoutes(uris[place.key], { by: place.by, show }),
    changed(place.pattern('redirect-uris'), {
      by: place.by,
      effect: 'sends codes elsewhere',
      form: uriForm,
      show,
      act: async ({ visit, fields: { environment, uri, back }, ticket }, { slug }) => {
        const input = { slug, environment, uri }
        await acting(visit, mayInActiveApp(slug, 'settings'), ticket).do(addRedirectUri, input)
        return seeOther(backTo(place.path(slug, 'redirect-uris'), back, { done: 'uri-added' }))
      },
      again: (_, { slug }) => ({
        section: place.key,
        href: place.path(slug, 'redirect-uris'),
        name: 'See the redirect URIs',
      }),
    }),
  ])

export const uriRemoval = stepsBelow('redirect-uris', ['redirect-uris', 'Redirect URIs'], (at) => ({ at }))('remove', {
  link: ['Remove'],
  unless: ({ at }) => whyNot(at, 'settings'),
  effect: 'sends codes elsewhere',
  form: formOf({ environment: environmentField, uri: text }),
  ask: async ({ door }, { at: { app } }, { slug }, given) => {
    const { redirectUris } = await listRedirectUris(door.platform, slug)
    const uri = given('uri')
    const environment = environments.find((one) => one === given('environment') && redirectUris[one].includes(uri))
    if (environment === undefined) throw refuse('route_not_found')
    const others = redirectUris[environment].length - 1
    return {
      title: 'Remove this redirect URI?',
      says: (
        <>
          <p>
            <code class="whole">{uri}</code>
          </p>
          <p>
            Users of <bdi>{app.name}</bdi> ({environment}) can no longer return to it. Sign-ins that are in progress
            with it fail, and codes that were sent to it are invalid. Tokens that were issued before keep working.
          </p>
        </>
      ),
      counts: [[others, `other ${environment} redirect URI stays`, `other ${environment} redirect URIs stay`]],
      button: 'Remove this redirect URI',
      fields: (
        <>
          <input type="hidden" name="environment" value={environment} />
          <input type="hidden" name="uri" value={uri} />
        </>
      ),
    }
  },
  act: async ({ visit, fields: { environment, uri } }, _, { slug }) =>
    await acting(visit, mayInApp(slug, 'settings')).do(removeRedirectUri, { slug, environment, uri }),
  done: { 'uri-removed': 'The redirect URI is removed and is refused from now on.' },
})

const notices = {
  'uri-added': 'The redirect URI is registered and works from now on.',
  ...uriRemoval.done,
} as const

const show = async (visit: Visit, { slug }: Slug): Promise<Response> => {
  const at = await appFor(visit, slug)
  const asked = uris[at.place.key].read(visit, { slug })
  const { q, sort } = asked.values
  const { redirectUris } = await listRedirectUris(visit.door.platform, slug, sort)
  const { environment } = at
  const all = redirectUris[environment]
  // There are few, so they are searched and divided into pages in memory.
  const found = await asked.rows(async (window) =>
    pageInMemory(
      all.filter((uri) => uri.includes(q)),
      window,
      positionOf,
    ),
  )
  return page(
    <AppPage at={at} tab="redirect-uris" title="Redirect URIs" switches notices={notices}>
      <p>
        After users allow or deny access, they return to a registered redirect URI, and to no other address. The URI
        that an app sends must be identical, byte for byte.
      </p>
      <FilterBar of={asked} isShown={isLong({ rows: all })} />
      <ListRows
        label={`Redirect URIs in ${environment}`}
        of={found}
        row={(uri) => (
          <Row
            key={uri}
            title={<code>{uri}</code>}
            facts={isOfDemo(uri) ? ['Made by the demo, which may use http. A URI that you register may not.'] : []}
            actions={
              at.may('settings') ? (
                <StepButton
                  visit={visit}
                  step={uriRemoval}
                  of={{ at }}
                  params={{ slug }}
                  query={{ environment, uri }}
                  look="small"
                  label={`Remove ${uri}`}
                />
              ) : undefined
            }
          />
        )}
        empty={noUri}
      />
      <Allowed at={at} right="settings">
        <AddUri at={at} environment={environment} />
      </Allowed>
      <Rules />
    </AppPage>,
  )
}

const noUri = 'None yet. Users cannot return to this app, so they cannot give it access here.'

/** A whole URI can be too long for a cursor. */
const positionOf = (uri: string): string => Bun.hash(uri).toString(36)

export const AddUri = ({ at: { visit, path }, environment }: AtApp & { readonly environment: Environment }) => (
  <Form
    action={path('redirect-uris')}
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
    <p class="muted">
      For your own machine register https://localhost:8443/callback: <LocalhostGuide />.
    </p>
    <button type="submit">Register</button>
  </Form>
)

/** The server's own demo has addresses of its own, which nobody could register. */
const isOfDemo = (uri: string): boolean => uri.startsWith('http://')

const LocalhostGuide = () => (
  <a href="/docs/guides/first-app#on-your-own-machine">how to get a certificate for localhost</a>
)

const Rules = () => (
  <section aria-labelledby="uri-rules">
    <h2 id="uri-rules">Rules for redirect URIs</h2>
    <ul>
      <li>
        HTTPS, in development too, so that the code cannot be read in transit. On your own machine too:{' '}
        <LocalhostGuide />.
      </li>
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
