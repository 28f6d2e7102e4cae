import { maximumLiveSecrets } from '../../../domain/credential.ts'
import { type Environment, environments } from '../../../domain/app.ts'
import type { PlatformError } from '../../../domain/errors.ts'
import type { CredentialRecord } from '../../../operations/credentials/list-credentials.ts'
import { Problem } from '../../components/form.tsx'
import { AppPage } from '../components/app-page.tsx'
import { Copyable } from '../../components/values.tsx'
import { environmentNames } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'
import { CreateSecret, RotateSecret } from './secret-forms.tsx'
import { LiveSecret } from './live-secret.tsx'

/** A form of this page that was refused, to be shown again with the reason. */
export type RefusedSecret = {
  readonly form: 'create' | 'rotate'
  readonly environment: Environment
  readonly value: string
  readonly error: PlatformError
}

type CredentialsPageProps = OwnApp & {
  readonly secrets: Readonly<Record<Environment, readonly CredentialRecord[]>>
  readonly notice: string | null
  readonly refused: RefusedSecret | null
}

export const CredentialsPage = ({ visit, app, secrets, notice, refused }: CredentialsPageProps) => (
  <AppPage visit={visit} app={app} tab="credentials" title="Credentials" notice={notice}>
    <Problem error={refused?.error ?? null} />
    <p>
      Your backend proves who it is with a client ID and a client secret. A secret is shown once, when it is made, and
      only its hash is kept. Keep secrets out of browsers, apps and repositories.
    </p>
    {environments.map((environment) => (
      <EnvironmentSecrets
        key={environment}
        visit={visit}
        app={app}
        environment={environment}
        secrets={secrets[environment]}
        refused={refused?.environment === environment ? refused : null}
      />
    ))}
    <h2>Ended secrets</h2>
    <p>
      <a href={appPath(app.slug, 'credentials', 'ended')}>See the secrets that were revoked or have run out</a>
    </p>
  </AppPage>
)

type EnvironmentSecretsProps = OwnApp & {
  readonly environment: Environment
  readonly secrets: readonly CredentialRecord[]
  readonly refused: RefusedSecret | null
}

const EnvironmentSecrets = ({ visit, app, environment, secrets, refused }: EnvironmentSecretsProps) => (
  <section aria-labelledby={`secrets-${environment}`}>
    <h2 id={`secrets-${environment}`}>{environmentNames[environment]}</h2>
    <p>
      Client ID{' '}
      <Copyable id={`client-${environment}`} value={app.clientIds[environment]} what={`the ${environment} client ID`} />
    </p>
    {secrets.length === 0 ? <p class="muted">{noSecret[environment]}</p> : null}
    <div class="cards">
      {secrets.map((secret) => (
        <LiveSecret key={secret.id} visit={visit} app={app} secret={secret} />
      ))}
    </div>
    {secrets.length >= maximumLiveSecrets ? (
      <p class="muted">
        Two secrets are live, which is the most. Revoke one, or wait for its end, before you make another.
      </p>
    ) : (
      <div class="actions">
        <CreateSecret visit={visit} app={app} environment={environment} refused={refused} />
        {secrets.length === 0 ? null : (
          <RotateSecret visit={visit} app={app} environment={environment} refused={refused} />
        )}
      </div>
    )}
  </section>
)

const noSecret = {
  development: 'No live secret: create one to make your first call.',
  production: 'No live secret: create one when you are ready for real users.',
} as const satisfies Record<Environment, string>
