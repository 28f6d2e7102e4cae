import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { deleteApp, transferApp } from '../../operations/apps/apps.ts'
import { inspectApp, type InspectedApp } from '../../operations/apps/lists.ts'
import { confirmCredential } from '../../operations/credentials/credentials.ts'
import { endAppAccess } from '../../operations/end-access.ts'
import { appTokensOf, reachOf } from '../../operations/reach.ts'
import { confirmed } from '../confirmation.tsx'
import type { Affected } from '../design/confirmation.tsx'
import { Field } from '../design/field.tsx'
import { ChosenName } from '../design/values.tsx'
import { emptyForm, formOf, text } from '../form.ts'
import { undeletedApp } from './app.tsx'
import { showSecret } from './app-secrets.tsx'
import { liveSecretOf, secretSteps } from '../secret-steps.tsx'
import { deskArea, deskAppPath, deskPaths } from './desk-page.tsx'

type Slug = { readonly slug: string }
const overview = ({ slug }: Slug) => ({ href: deskAppPath(slug) })
const credentials = ({ slug }: Slug) => ({ href: deskAppPath(slug, 'credentials'), name: 'Credentials' })

const Name = ({ app: { name, slug } }: { readonly app: Pick<InspectedApp, 'name' | 'slug'> }) => (
  <>
    <ChosenName name={name} /> (<code>{slug}</code>)
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

const transferForm = formOf({ to: text })

/** What else an operator ends or hands over of an app. Each step asks first. */
export const appSteps = (door: Door) =>
  new Elysia()
    .use(
      confirmed(door, '/desk/apps/:slug/delete', {
        area: deskArea,
        proof: 'asked',
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
                its audit log. Until then its slug stays reserved.
              </p>
            ),
            counts: await accessOf(door, app),
            button: 'Delete this app',
          }
        },
        act: async ({ visit }, { slug }, back) => {
          await undeletedApp(door, slug)
          await visit.asOperator().do(deleteApp, slug)
          return back('deleted')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/apps/:slug/end-access', {
        area: deskArea,
        proof: 'none',
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
          await visit.asOperator().do(endAppAccess, slug)
          return back('end-access')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/apps/:slug/transfer', {
        area: deskArea,
        proof: 'asked',
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
            fields: (
              <Field
                label="New owner’s email address"
                name="to"
                input={{ type: 'email', required: true, maxLength: 254, autocomplete: 'off' }}
              />
            ),
            button: 'Transfer this app',
            tone: 'harmless',
          }
        },
        act: async ({ visit, fields }, { slug }, back) => {
          await undeletedApp(door, slug)
          await visit.asOperator().do(transferApp, { slug, email: fields.to })
          return back('transferred')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/apps/:slug/credentials/:id/confirm', {
        area: deskArea,
        proof: 'asked',
        form: emptyForm,
        back: credentials,
        ask: async (_, { slug, id }) => {
          const app = await undeletedApp(door, slug)
          const { secret } = await liveSecretOf(door, app, id)
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
          await liveSecretOf(door, await undeletedApp(door, slug), id)
          await visit.asOperator().do(confirmCredential, id)
          return back('confirmed')
        },
      }),
    )
    .use(
      secretSteps(door, {
        area: deskArea,
        root: deskPaths.apps,
        uris: 'settings/redirect-uris',
        back: (slug) => ({ href: deskAppPath(slug, 'settings'), name: 'Settings' }),
        appOf: async (_, slug) => await undeletedApp(door, slug),
        toRevoke: (visit) => visit.asOperator(),
        toRotate: (visit, _slug, _environment, ticket) => visit.asOperator({ ticket }),
        toRemoveUris: (visit) => visit.asOperator(),
        showSecret,
      }),
    )
