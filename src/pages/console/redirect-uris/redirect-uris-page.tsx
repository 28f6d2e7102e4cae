import { type Environment, environments } from '../../../domain/app.ts'
import type { PlatformError } from '../../../domain/errors.ts'
import { maximumRedirectUris } from '../../../domain/registered-url.ts'
import type { RedirectUris } from '../../../operations/redirect-uris.ts'
import { Field, Form, Problem } from '../../components/form.tsx'
import { AppPage } from '../components/app-page.tsx'
import { environmentNames } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

/** A URI that was refused, to be shown again with the reason. */
export type RefusedUri = { readonly environment: Environment; readonly uri: string; readonly error: PlatformError }

type RedirectUrisPageProps = OwnApp &
  RedirectUris & { readonly notice: string | null; readonly refused: RefusedUri | null }

export const RedirectUrisPage = ({ visit, app, redirectUris, notice, refused }: RedirectUrisPageProps) => (
  <AppPage visit={visit} app={app} tab="redirect-uris" title="Redirect URIs" notice={notice}>
    <Problem error={refused?.error ?? null} />
    <p>
      Users who have decided come back to a redirect URI, and to no other. Development and production keep their own;
      what an app sends is compared with them byte for byte.
    </p>
    {environments.map((environment) => (
      <section aria-labelledby={`uris-${environment}`} key={environment}>
        <h2 id={`uris-${environment}`}>{environmentNames[environment]}</h2>
        <UriList visit={visit} app={app} environment={environment} uris={redirectUris[environment]} />
        <AddUri
          visit={visit}
          app={app}
          environment={environment}
          refused={refused?.environment === environment ? refused : null}
        />
      </section>
    ))}
    <Rules />
  </AppPage>
)

type UriListProps = OwnApp & { readonly environment: Environment; readonly uris: readonly string[] }

const UriList = ({ visit, app, environment, uris }: UriListProps) =>
  uris.length === 0 ? (
    <p class="muted">None yet: nobody can be sent back to this app, so no user can give it access here.</p>
  ) : (
    <ul class="rows">
      {uris.map((uri) => (
        <li key={uri}>
          <code>{uri}</code>
          <Form action={appPath(app.slug, 'redirect-uris', 'remove')} visit={visit} class="inline">
            <input type="hidden" name="environment" value={environment} />
            <input type="hidden" name="uri" value={uri} />
            <button type="submit" class="danger small" aria-label={`Remove ${uri}`}>
              Remove
            </button>
          </Form>
        </li>
      ))}
    </ul>
  )

type AddUriProps = OwnApp & { readonly environment: Environment; readonly refused: RefusedUri | null }

const AddUri = ({ visit, app, environment, refused }: AddUriProps) => (
  <Form action={appPath(app.slug, 'redirect-uris')} visit={visit}>
    <input type="hidden" name="environment" value={environment} />
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
    <button type="submit" class="secondary">
      Register
    </button>
  </Form>
)

const Rules = () => (
  <section aria-labelledby="uri-rules">
    <h2 id="uri-rules">What a redirect URI must be</h2>
    <ul>
      <li>HTTPS, in development too, so that nobody on the way reads the code.</li>
      <li>Without a fragment (#), a wildcard (*), and a user name or password before the host.</li>
      <li>
        Written as browsers write it: the host in lower case, no default port, no <code>..</code> in the path.
      </li>
      <li>Without code, state, iss and error in its query: the answer adds them.</li>
      <li>{`This app's alone, and at most ${maximumRedirectUris} in each environment.`}</li>
    </ul>
    <p class="muted">
      When you remove one, sign-ins that are under way with it fail, and codes that were sent to it are worth nothing.
      Tokens that users have given already go on.
    </p>
  </section>
)
