import { Elysia } from 'elysia'
import { environments } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { deleteApp } from '../../operations/apps/delete-app.ts'
import { inspectApp, type InspectedApp } from '../../operations/apps/overview.ts'
import { transferApp } from '../../operations/apps/transfer-app.ts'
import {
  confirmCredential,
  revokeCredential,
  rotateCredential,
} from '../../operations/credentials/change-credentials.ts'
import { type CredentialRecord, listLiveCredentials } from '../../operations/credentials/list-credentials.ts'
import { endAppAccess } from '../../operations/end-access.ts'
import { appTokensOf, reachOf } from '../../operations/reach.ts'
import { listRedirectUris, removeRedirectUri } from '../../operations/redirect-uris.ts'
import { confirmed } from '../confirmation.tsx'
import { GraceField, hoursFrom } from '../grace-field.tsx'
import type { Affected } from '../design/confirmation.tsx'
import { Field } from '../design/field.tsx'
import { emptyForm, formOf, text } from '../form.ts'
import { undeletedApp } from './app.tsx'
import { showSecret } from './app-secrets.tsx'
import { environmentChoice } from './app-settings.tsx'
import { deskArea, deskAppPath, onTheDesk } from './desk-page.tsx'

type Named = { readonly slug: string }
const overview = ({ slug }: Named) => ({ href: deskAppPath(slug) })
const credentials = ({ slug }: Named) => ({ href: deskAppPath(slug, 'credentials'), name: 'Credentials' })
const settings = ({ slug }: Named) => ({ href: deskAppPath(slug, 'settings'), name: 'Settings' })

const Name = ({ app: { name, slug } }: { readonly app: Pick<InspectedApp, 'name' | 'slug'> }) => (
  <>
    <strong>
      <bdi>{name}</bdi>
    </strong>{' '}
    (<code>{slug}</code>)
  </>
)

/** What was issued for the app and works now. */
const accessOf = async ({ platform }: Door, { id }: InspectedApp): Promise<readonly Affected[]> => {
  const reach = await reachOf(platform, { kind: 'app', appId: id })
  return [
    [reach.users, 'user has allowed this app', 'users have allowed this app'],
    [reach.grants, 'grant ends', 'grants end'],
    [await appTokensOf(platform, { apps: [id] }), 'app token ends', 'app tokens end'],
    [reach.embeddedSessions, 'open page of this app closes', 'open pages of this app close'],
  ]
}

/** A secret of this app that has not ended. @throws route_not_found for any other */
const secretOf = async (door: Door, app: InspectedApp, id: string): Promise<CredentialRecord> => {
  const { development, production } = await listLiveCredentials(door.platform, app.clientIds)
  const found = [...development, ...production].find((secret) => secret.id === id)
  if (found === undefined) throw refuse('route_not_found')
  return found
}

const rotateForm = formOf({ environment: environmentChoice, graceHours: text })
const transferForm = formOf({ to: text })
const removalForm = formOf({ environment: environmentChoice, uri: text })

/** What else an operator ends or hands over of an app. Each step asks first. */
export const appSteps = (door: Door) =>
  new Elysia()
    .use(
      confirmed(door, '/desk/apps/:slug/delete', {
        area: deskArea,
        form: emptyForm,
        back: overview,
        typeName: async (_, { slug }) => (await inspectApp(door.platform, slug)).slug,
        ask: async (_, { slug }) => {
          const app = await undeletedApp(door, slug)
          return {
            title: 'Delete this app?',
            belongsTo: app.name,
            says: (
              <p>
                <Name app={app} /> disappears for its members and for all users, and all its tokens and grants are
                revoked. You can restore it for 7 days, without these tokens and grants. Then it is removed, except for
                its audit log. Until then its slug and redirect URIs stay reserved.
              </p>
            ),
            counts: await accessOf(door, app),
            button: 'Delete this app',
          }
        },
        act: async ({ visit }, { slug }, back) => {
          await undeletedApp(door, slug)
          await deleteApp(...onTheDesk(visit), slug)
          return back('deleted')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/apps/:slug/end-access', {
        area: deskArea,
        form: emptyForm,
        back: overview,
        typeName: async (_, { slug }) => (await inspectApp(door.platform, slug)).slug,
        ask: async (_, { slug }) => {
          const app = await undeletedApp(door, slug)
          return {
            title: 'End all access of this app?',
            belongsTo: app.name,
            says: (
              <p>
                All tokens and grants of <Name app={app} /> are revoked at once, and users have to consent again. Its
                client secrets stay valid, so it can ask for new app tokens. To stop it altogether, suspend it.
              </p>
            ),
            counts: await accessOf(door, app),
            button: 'End all access',
          }
        },
        act: async ({ visit }, { slug }, back) => {
          await undeletedApp(door, slug)
          await endAppAccess(...onTheDesk(visit), slug)
          return back('end-access')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/apps/:slug/transfer', {
        area: deskArea,
        form: transferForm,
        back: overview,
        ask: async (_, { slug }) => {
          const app = await undeletedApp(door, slug)
          return {
            title: 'Transfer this app?',
            belongsTo: app.name,
            says: (
              <p>
                <Name app={app} /> leaves <bdi>{app.owner.name}</bdi> ({app.owner.email}) and belongs to another active
                user at once. Its secrets stay valid, and the previous owner may know them. Rotate them afterwards.
              </p>
            ),
            fields: (sent, error) => (
              <Field
                label="New owner’s email address"
                name="to"
                error={error}
                input={{ type: 'email', value: sent?.to ?? '', required: true, maxLength: 254, autocomplete: 'off' }}
              />
            ),
            button: 'Transfer this app',
            tone: 'harmless',
          }
        },
        act: async ({ visit, fields }, { slug }, back) => {
          await undeletedApp(door, slug)
          await transferApp(...onTheDesk(visit), { slug, email: fields.to })
          return back('transferred')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/apps/:slug/credentials/rotate', {
        area: deskArea,
        form: rotateForm,
        back: credentials,
        ask: async (_, { slug }, given) => {
          const app = await undeletedApp(door, slug)
          const environment = environments.find((one) => one === given('environment')) ?? 'development'
          const secrets = (await listLiveCredentials(door.platform, app.clientIds))[environment]
          return {
            title: `Rotate the ${environment} secret?`,
            belongsTo: app.name,
            says: (
              <p>
                <Name app={app} /> gets a new {environment} secret. The older ones stop working after the hours below.
              </p>
            ),
            counts: [[secrets.length, 'older secret expires', 'older secrets expire']],
            fields: (sent, error) => (
              <>
                <input type="hidden" name="environment" value={environment} />
                <GraceField
                  label="Hours until the older secrets expire"
                  hint="With 0 they stop working at once, and so do their app tokens."
                  typed={sent?.graceHours}
                  error={error}
                />
              </>
            ),
            button: 'Rotate the secret',
          }
        },
        act: async ({ visit, fields, ticket }, { slug }) => {
          const { clientIds } = await undeletedApp(door, slug)
          const input = { clientId: clientIds[fields.environment], graceHours: hoursFrom(fields.graceHours) }
          return showSecret(visit, slug, await rotateCredential(...onTheDesk(visit, undefined, ticket), input))
        },
      }),
    )
    .use(
      confirmed(door, '/desk/apps/:slug/credentials/:id/revoke', {
        area: deskArea,
        form: emptyForm,
        back: credentials,
        ask: async (_, { slug, id }) => {
          const app = await undeletedApp(door, slug)
          const secret = await secretOf(door, app, id)
          return {
            title: 'Revoke this secret?',
            belongsTo: app.name,
            says: (
              <p>
                The {secret.environment} secret <bdi>{secret.label ?? id}</bdi> of <Name app={app} /> stops working at
                once, and so do its app tokens. Access that users have granted continues.
              </p>
            ),
            counts: [[await appTokensOf(door.platform, { secret: id }), 'app token ends', 'app tokens end']],
            button: 'Revoke this secret',
          }
        },
        act: async ({ visit }, { slug, id }, back) => {
          await secretOf(door, await undeletedApp(door, slug), id)
          await revokeCredential(...onTheDesk(visit), id)
          return back('revoked')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/apps/:slug/credentials/:id/confirm', {
        area: deskArea,
        form: emptyForm,
        back: credentials,
        ask: async (_, { slug, id }) => {
          const app = await undeletedApp(door, slug)
          const secret = await secretOf(door, app, id)
          return {
            title: 'Reactivate this secret?',
            belongsTo: app.name,
            says: (
              <p>
                The {secret.environment} secret <bdi>{secret.label ?? id}</bdi> of <Name app={app} /> is suspended
                because data was lost, and it may have been revoked in the lost time. Reactivate it only if the app
                still uses it and nobody else has it. Otherwise rotate it.
              </p>
            ),
            button: 'Reactivate this secret',
            tone: 'harmless',
          }
        },
        act: async ({ visit }, { slug, id }, back) => {
          await secretOf(door, await undeletedApp(door, slug), id)
          await confirmCredential(...onTheDesk(visit), id)
          return back('confirmed')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/apps/:slug/settings/redirect-uris/remove', {
        area: deskArea,
        form: removalForm,
        back: settings,
        ask: async (_, { slug }, given) => {
          const app = await undeletedApp(door, slug)
          const { redirectUris } = await listRedirectUris(door.platform, slug)
          const isRegistered = environments.some(
            (environment) => environment === given('environment') && redirectUris[environment].includes(given('uri')),
          )
          if (!isRegistered) throw refuse('route_not_found')
          return {
            title: 'Remove this redirect URI?',
            belongsTo: app.name,
            says: (
              <p>
                <code>{given('uri')}</code> is refused from now on ({given('environment')}). Sign-ins to{' '}
                <Name app={app} /> that are in progress with it fail. Tokens that were issued before keep working.
              </p>
            ),
            fields: () => (
              <>
                <input type="hidden" name="environment" value={given('environment')} />
                <input type="hidden" name="uri" value={given('uri')} />
              </>
            ),
            button: 'Remove this redirect URI',
          }
        },
        act: async ({ visit, fields: { environment, uri } }, { slug }, back) => {
          await undeletedApp(door, slug)
          await removeRedirectUri(...onTheDesk(visit), { slug, environment, uri })
          return back('uri-removed')
        },
      }),
    )
