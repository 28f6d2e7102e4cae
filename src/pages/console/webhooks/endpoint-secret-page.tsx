import type { NewEndpointRecord } from '../../../operations/webhooks/endpoints.ts'
import { Secret } from '../../components/values.tsx'
import { AppPage } from '../components/app-page.tsx'
import { EnvironmentBadge } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

type EndpointSecretPageProps = OwnApp & { readonly made: NewEndpointRecord }

/** The one page that ever shows what deliveries to an endpoint are signed with. */
export const EndpointSecretPage = ({ visit, app, made }: EndpointSecretPageProps) => (
  <AppPage visit={visit} app={app} tab="webhooks" title="The secret of your endpoint">
    <p>
      <EnvironmentBadge environment={made.environment} /> <code>{made.url}</code>
    </p>
    <Secret label="Signing secret" value={made.secret} hint="Copy it now: no page shows it again." />
    <p>
      Give it to your backend, which checks every delivery with it before it believes a word: the libraries of Standard
      Webhooks do that in a line.
    </p>
    <p>
      <a href={appPath(app.slug, 'webhooks', made.id)}>I have copied it: go on to the endpoint and test it</a>
    </p>
  </AppPage>
)
