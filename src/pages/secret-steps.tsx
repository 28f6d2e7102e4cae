import { Elysia } from 'elysia'
import { Type } from '@sinclair/typebox'
import { type Environment, environments } from '../domain/app.ts'
import { refuse } from '../domain/errors.ts'
import type { RowKey } from '../domain/identifier.ts'
import type { Door } from '../http/door.ts'
import type { Actor } from '../operations/audit/event.ts'
import {
  revokeCredential,
  rotateCredential,
  listLiveCredentials,
  type NewCredentialRecord,
} from '../operations/credentials/credentials.ts'
import { appTokensOf } from '../operations/reach.ts'
import { listRedirectUris, removeRedirectUri } from '../operations/redirect-uris.ts'
import type { Area } from './change.tsx'
import { secretShownBefore } from './change.tsx'
import { confirmed } from './confirmation.tsx'
import { ChosenName } from './design/values.tsx'
import { emptyForm, formOf, numberIn, text } from './form.ts'
import { GraceField } from './grace-field.tsx'
import { secretName } from './secret-row.tsx'
import type { Acting, Visit } from './visit.ts'

type AppOfSecrets = {
  readonly slug: string
  readonly name: string
  readonly clientIds: Readonly<Record<Environment, string>>
}

/** What differs between the console and the desk. */
type Side = {
  readonly area: Area
  readonly root: '/console' | '/desk/apps'
  readonly uris: 'redirect-uris' | 'settings/redirect-uris'
  /** The page of the redirect URIs. */
  readonly back: (slug: string) => { readonly href: string; readonly name: string }
  /** @throws route_not_found */
  readonly appOf: (visit: Visit, slug: string) => Promise<AppOfSecrets>
  /** Who may take the secret away; make a new one in the environment; take redirect URIs away. */
  readonly toRevoke: (visit: Visit, slug: string, id: string) => Acting<Actor>
  readonly toRotate: (visit: Visit, slug: string, environment: Environment, ticket: RowKey) => Acting<Actor>
  readonly toRemoveUris: (visit: Visit, slug: string) => Acting<Actor>
  readonly showSecret: (visit: Visit, slug: string, created: NewCredentialRecord) => Response
}

const environmentField = Type.Union(environments.map((environment) => Type.Literal(environment)))
const rotateForm = formOf({ environment: environmentField, graceHours: text })
const uriForm = formOf({ environment: environmentField, uri: text })

/** A secret of this app that has not ended, with the others of its environment. @throws route_not_found for any other */
export const liveSecretOf = async ({ platform }: Door, { clientIds }: AppOfSecrets, id: string) => {
  const live = await listLiveCredentials(platform, clientIds)
  const secret = environments.flatMap((environment) => live[environment]).find((one) => one.id === id)
  if (secret === undefined) throw refuse('route_not_found')
  return { secret, others: live[secret.environment].filter((one) => one.id !== id) }
}

/** What ends secrets and redirect URIs of an app, for its members and for operators. */
export const secretSteps = (door: Door, side: Side) => {
  const credentials = ({ slug }: { readonly slug: string }) => ({
    href: `${side.root}/${slug}/credentials`,
    name: 'Credentials',
  })
  return new Elysia()
    .use(
      confirmed(door, `${side.root}/:slug/credentials/:id/revoke`, {
        area: side.area,
        proof: 'none',
        form: emptyForm,
        back: credentials,
        ask: async (visit, { slug, id }) => {
          const app = await side.appOf(visit, slug)
          const { secret, others } = await liveSecretOf(door, app, id)
          const { environment, hint } = secret
          return {
            title: 'Revoke this secret?',
            belongsTo: app.name,
            says: (
              <p>
                The {environment} secret <ChosenName name={secretName(secret)} />{' '}
                {hint === null ? null : (
                  <>
                    (ends with <code>{hint}</code>){' '}
                  </>
                )}
                of <bdi>{app.name}</bdi> and its app tokens stop working at once. Access that users have granted
                continues. This cannot be undone.
              </p>
            ),
            counts: [
              [await appTokensOf(door.platform, { secret: id }), 'app token stops working', 'app tokens stop working'],
              [others.length, `other ${environment} secret stays`, `other ${environment} secrets stay`],
            ],
            button: 'Revoke this secret',
          }
        },
        act: async ({ visit }, { slug, id }, back) => {
          await liveSecretOf(door, await side.appOf(visit, slug), id)
          await side.toRevoke(visit, slug, id).do(revokeCredential, id)
          return back('revoked')
        },
      }),
    )
    .use(
      confirmed(door, `${side.root}/:slug/credentials/rotate`, {
        area: side.area,
        proof: 'asked',
        form: rotateForm,
        back: credentials,
        again: secretShownBefore('revoke it and create another'),
        ask: async (visit, { slug }, given) => {
          const app = await side.appOf(visit, slug)
          const environment = environments.find((one) => one === given('environment')) ?? 'development'
          const secrets = (await listLiveCredentials(door.platform, app.clientIds))[environment]
          return {
            title: `Rotate the ${environment} secret?`,
            belongsTo: app.name,
            says: (
              <p>
                <bdi>{app.name}</bdi> gets a new {environment} secret. The older ones stop working after the hours
                below, and so do their app tokens.
              </p>
            ),
            counts: [[secrets.length, 'older secret expires', 'older secrets expire']],
            button: 'Rotate the secret',
            fields: (
              <>
                <input type="hidden" name="environment" value={environment} />
                <GraceField
                  label="Hours until the older secrets expire"
                  hint="Until then they work beside the new one. With 0 they stop working at once."
                />
              </>
            ),
          }
        },
        act: async ({ visit, fields: { environment, graceHours }, ticket }, { slug }) => {
          const { clientIds } = await side.appOf(visit, slug)
          const input = { clientId: clientIds[environment], graceHours: numberIn(graceHours) }
          const created = await side.toRotate(visit, slug, environment, ticket).do(rotateCredential, input)
          return side.showSecret(visit, slug, created)
        },
      }),
    )
    .use(
      confirmed(door, `${side.root}/:slug/${side.uris}/remove`, {
        area: side.area,
        proof: 'asked',
        form: uriForm,
        back: ({ slug }) => side.back(slug),
        ask: async (visit, { slug }, given) => {
          const app = await side.appOf(visit, slug)
          const { redirectUris } = await listRedirectUris(door.platform, slug)
          const uri = given('uri')
          const environment = environments.find(
            (one) => one === given('environment') && redirectUris[one].includes(uri),
          )
          if (environment === undefined) throw refuse('route_not_found')
          const others = redirectUris[environment].length - 1
          return {
            title: 'Remove this redirect URI?',
            belongsTo: app.name,
            says: (
              <>
                <p>
                  <code class="whole">{uri}</code>
                </p>
                <p>
                  Users of <bdi>{app.name}</bdi> ({environment}) can no longer return to it. Sign-ins that are in
                  progress with it fail, and codes that were sent to it are invalid. Tokens that were issued before keep
                  working.
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
        act: async ({ visit, fields: { environment, uri } }, { slug }, back) => {
          await side.appOf(visit, slug)
          await side.toRemoveUris(visit, slug).do(removeRedirectUri, { slug, environment, uri })
          return back('uri-removed')
        },
      }),
    )
}
