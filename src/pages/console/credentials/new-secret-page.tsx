import type { NewCredentialRecord } from '../../../operations/credentials/list-credentials.ts'
import { Copyable, Secret, Time } from '../../components/values.tsx'
import { AppPage } from '../components/app-page.tsx'
import { EnvironmentBadge } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

type NewSecretPageProps = OwnApp & {
  readonly created: NewCredentialRecord
  /** When the secret before it ends (epoch milliseconds); null when there was none. */
  readonly oldEndsAt: number | null
}

/** The one page that ever shows a secret. */
export const NewSecretPage = ({ visit, app, created, oldEndsAt }: NewSecretPageProps) => (
  <AppPage visit={visit} app={app} tab="credentials" title="Your new secret">
    <p>
      <EnvironmentBadge environment={created.environment} /> <bdi>{created.label ?? ''}</bdi>
    </p>
    <p>
      Client ID <Copyable id="client-id" value={created.clientId} what="the client ID" />
    </p>
    <Secret label="Client secret" value={created.clientSecret} />
    {oldEndsAt === null ? null : (
      <p>
        The secret before it ends <Time at={oldEndsAt} />.
      </p>
    )}
    <p>
      <a href={appPath(app.slug, 'credentials')}>I have copied it: go back to the credentials</a>
    </p>
    <p>
      <a href={`${appPath(app.slug, 'first-call')}?environment=${created.environment}`}>Make the first call with it</a>
    </p>
  </AppPage>
)
