import { Elysia } from 'elysia'
import { type Environment, environments } from '../../domain/app.ts'
import { maximumLiveSecrets } from '../../domain/credential.ts'
import { refuse } from '../../domain/errors.ts'
import { rightOverSecrets } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import {
  createCredential,
  type CredentialRecord,
  listLiveCredentials,
  type ListedSecret,
} from '../../operations/credentials/credentials.ts'
import { formPage, secretShownBefore } from '../change.tsx'
import { EnvironmentBadge, environmentNames } from '../design/badge.tsx'
import { RowList } from '../design/row-list.tsx'
import { Copyable, ShownOnce, Time } from '../design/values.tsx'
import { formOf, text } from '../form.ts'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { showOnce, takeShown } from '../shown-once.ts'
import {
  Allowed,
  ClientId,
  consoleAppPath,
  environmentField,
  type OwnApp,
  ownAppOf,
  OwnAppPage,
  requireOwnApp,
} from './own-app.tsx'
import { CreateSecret, LiveSecret, newSecretPath } from './secret-parts.tsx'
import { mayInActiveApp } from '../../operations/acting-as.ts'

const notices = { revoked: 'The secret is revoked. It has stopped working, and so have its app tokens.' } as const

const createForm = formOf({ environment: environmentField, label: text })

const pattern = '/console/:slug/credentials'

/** The client secrets of an app. In a suspended app secrets can be revoked, but not created. */
export const credentialRoutes = (door: Door) =>
  new Elysia()
    .use(
      formPage(door, pattern, {
        by: 'user',
        proof: 'asked',
        isPartOfPage: true,
        form: createForm,
        show,
        act: async ({ visit, fields: { environment, label }, ticket }, { slug }) => {
          const input = { slug, environment, label: label.trim() === '' ? null : label }
          const may = mayInActiveApp(slug, rightOverSecrets(environment))
          const created = await visit.as(may, ticket).do(createCredential, input)
          return showOnce(visit, newSecretPath(slug, created.id), created.clientSecret)
        },
        // A form that is sent twice creates one secret, and only the first answer shows it.
        again: (_, { slug }) => ({
          message: secretShownBefore('revoke it and create another'),
          href: consoleAppPath(slug, 'credentials'),
          name: 'See the credentials',
        }),
      }),
    )
    .get(`${pattern}/:id/secret`, async ({ request, params: { slug, id } }) => {
      const own = await requireOwnApp(door, request, slug)
      const { development, production } = await listLiveCredentials(door.platform, own.app.clientIds)
      const created = [...development, ...production].find((secret) => secret.id === id)
      if (created === undefined) throw refuse('route_not_found')
      const old = (created.environment === 'production' ? production : development).find((one) => one.id !== id)
      const { value, cookies } = takeShown(own.visit)
      return page(<NewSecretPage {...own} created={created} secret={value} oldEndsAt={old?.expiresAt ?? null} />, {
        cookies,
      })
    })

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const { app } = await ownAppOf(visit, slug)
  const secrets = await listLiveCredentials(visit.door.platform, app.clientIds)
  return page(
    <OwnAppPage visit={visit} app={app} tab="credentials" title="Credentials" notices={notices}>
      <p>
        Your backend authenticates with a client ID and a client secret. A secret is shown once, when it is created.
        Only its hash is stored. Keep secrets out of browsers, mobile apps and repositories.
      </p>
      {environments.map((environment) => (
        <EnvironmentSecrets
          key={environment}
          visit={visit}
          app={app}
          environment={environment}
          secrets={secrets[environment]}
        />
      ))}
      <h2>Ended secrets</h2>
      <p>
        <a href={consoleAppPath(app.slug, 'credentials', 'ended')}>See the secrets that were revoked or have expired</a>
      </p>
    </OwnAppPage>,
  )
}

type EnvironmentSecretsProps = OwnApp & {
  readonly environment: Environment
  readonly secrets: readonly ListedSecret[]
}

const EnvironmentSecrets = ({ visit, app, environment, secrets }: EnvironmentSecretsProps) => (
  <section aria-labelledby={`secrets-${environment}`}>
    <h2 id={`secrets-${environment}`}>{environmentNames[environment]}</h2>
    <p>
      Client ID <ClientId app={app} environment={environment} />
    </p>
    <RowList
      rows={secrets}
      row={(secret) => <LiveSecret visit={visit} app={app} secret={secret} />}
      empty={noSecret[environment]}
    />
    {secrets.length >= maximumLiveSecrets ? (
      <p class="muted">
        Two secrets are active, which is the maximum. To create another, revoke one or wait until it expires.
      </p>
    ) : (
      <Allowed app={app} right={rightOverSecrets(environment)}>
        <CreateSecret visit={visit} app={app} environment={environment}>
          {secrets.length === 0 ? null : (
            <a class="button" href={`${consoleAppPath(app.slug, 'credentials', 'rotate')}?environment=${environment}`}>
              Rotate the {environment} secret
            </a>
          )}
        </CreateSecret>
      </Allowed>
    )}
  </section>
)

const noSecret = {
  development: 'No active secret. Create one to make your first call.',
  production: 'No active secret. Create one when you are ready for real users.',
} as const satisfies Record<Environment, string>

type NewSecretPageProps = OwnApp & {
  readonly created: CredentialRecord
  /** Null when it was shown before. */
  readonly secret: string | null
  /** When the previous secret expires (epoch milliseconds); null without one. */
  readonly oldEndsAt: number | null
}

/** The only page that shows a secret. */
const NewSecretPage = ({ visit, app, created, secret, oldEndsAt }: NewSecretPageProps) => (
  <OwnAppPage visit={visit} app={app} tab="credentials" title={secret === null ? 'Secret' : 'Your new secret'}>
    <p>
      <EnvironmentBadge environment={created.environment} /> <bdi>{created.label ?? ''}</bdi>
    </p>
    <p>
      Client ID <Copyable id="client-id" value={created.clientId} what="the client ID" />
    </p>
    <ShownOnce
      value={secret}
      what="secret"
      label="Client secret"
      advice="create or rotate one"
      back={{ href: consoleAppPath(app.slug, 'credentials'), name: 'the credentials' }}
    />
    {oldEndsAt === null ? null : (
      <p>
        The previous secret expires <Time at={oldEndsAt} />.
      </p>
    )}
    {secret === null ? null : (
      <p>
        <a href={`${consoleAppPath(app.slug, 'first-call')}?environment=${created.environment}`}>
          Make the first call with it
        </a>
      </p>
    )}
  </OwnAppPage>
)
