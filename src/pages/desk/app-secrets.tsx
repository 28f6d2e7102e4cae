import { Elysia } from 'elysia'
import { type Environment, environments } from '../../domain/app.ts'
import type { Door } from '../../http/door.ts'
import type { InspectedApp } from '../../operations/apps/lists.ts'
import {
  createCredential,
  type ListedSecret,
  listLiveCredentials,
  type NewCredentialRecord,
} from '../../operations/credentials/credentials.ts'
import { formPage } from '../change.tsx'
import { environmentNames } from '../design/badge.tsx'
import { Field, SelectField } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { RowList } from '../design/row-list.tsx'
import { Copyable, ShownOnce } from '../design/values.tsx'
import { formOf, text } from '../form.ts'
import { page } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { secretName, SecretRow } from '../secret-row.tsx'
import { showOnce, takeShown } from '../shown-once.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { DeskAppPage, undeletedApp } from './app.tsx'
import { environmentChoice, environmentOptions } from './app-settings.tsx'
import { deskAppPath, userPath } from './desk-page.tsx'

const notices = {
  revoked: 'The secret is revoked. It has stopped working, and so have its app tokens.',
  confirmed: 'The secret works again.',
} as const

const createForm = formOf({ environment: environmentChoice, label: text })

const pattern = '/desk/apps/:slug/credentials'
const credentialsPath = (slug: string, ...rest: readonly string[]): string => deskAppPath(slug, 'credentials', ...rest)

/** The client secrets of an app, and the page that shows a new one once. */
export const deskSecretRoutes = (door: Door) =>
  new Elysia()
    .use(
      formPage(door, pattern, {
        by: 'operator',
        proof: 'asked',
        isPartOfPage: true,
        form: createForm,
        show,
        act: async ({ visit, fields: { environment, label }, ticket }, { slug }) => {
          await undeletedApp(door, slug)
          const input = { slug, environment, label: label.trim() === '' ? null : label.trim() }
          return showSecret(visit, slug, await visit.asOperator({ ticket }).do(createCredential, input))
        },
      }),
    )
    .get(`${pattern}/new`, async ({ request, params: { slug } }) => {
      const visit = await requireOperator(door, request)
      return await showNew(visit, await undeletedApp(door, slug))
    })

/** Redirects to the page that shows a new secret once. */
export const showSecret = (visit: Visit, slug: string, { clientSecret }: NewCredentialRecord): Response =>
  showOnce(visit, credentialsPath(slug, 'new'), clientSecret)

const showNew = async (visit: Visit, app: InspectedApp): Promise<Response> => {
  const { value, cookies } = takeShown(visit)
  return page(
    <DeskAppPage title="New secret" app={app} part="credentials" visit={visit}>
      <ShownOnce
        value={value}
        what="secret"
        label="Client secret"
        advice="revoke it and create another one"
        back={{ href: credentialsPath(app.slug), name: 'the credentials' }}
      >
        {value === null ? null : (
          <p>
            Give the secret to the developer over a channel that you trust. The client ID is{' '}
            <Copyable id="client" value={app.clientIds[environmentOf(value)]} what="the client ID" />.
          </p>
        )}
      </ShownOnce>
    </DeskAppPage>,
    { cookies },
  )
}

/** The environment is part of a secret (contract section 2). */
const environmentOf = (secret: string): Environment => (secret.startsWith('aps_live_') ? 'production' : 'development')

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const app = await undeletedApp(visit.door, slug)
  const live = await listLiveCredentials(visit.door.platform, app.clientIds)
  return page(
    <DeskAppPage title="Credentials" app={app} part="credentials" visit={visit} notices={notices}>
      {environments.map((environment) => (
        <section key={environment} aria-labelledby={`secrets-${environment}`}>
          <h2 id={`secrets-${environment}`}>{environmentNames[environment]}</h2>
          <p>
            Client ID{' '}
            <Copyable
              id={`client-${environment}`}
              value={app.clientIds[environment]}
              what={`the ${environment} client ID`}
            />
          </p>
          <RowList
            rows={live[environment]}
            row={(secret) => <LiveSecret key={secret.id} visit={visit} app={app} secret={secret} />}
            empty={`No secret. The app cannot authenticate in ${environment}.`}
          />
          {live[environment].length === 0 ? null : (
            <p>
              <a class="button small" href={`${credentialsPath(app.slug, 'rotate')}?environment=${environment}`}>
                Rotate the {environment} secret…
              </a>
            </p>
          )}
        </section>
      ))}
      <h2>Create a secret</h2>
      <Form action={credentialsPath(app.slug)} visit={visit} class="measure" asks={proveFirst(visit)}>
        <SelectField label="Environment" name="environment" options={environmentOptions} value="development" />
        <Field
          label="Label"
          name="label"
          hint="Optional. For example, where the secret will be stored."
          input={{ maxLength: 200, autocomplete: 'off' }}
        />
        <button type="submit" class="primary">
          Create a secret
        </button>
      </Form>
    </DeskAppPage>,
  )
}

type LiveSecretProps = { readonly visit: Visit; readonly app: InspectedApp; readonly secret: ListedSecret }

const LiveSecret = ({ visit, app, secret }: LiveSecretProps) => {
  const { id, status } = secret
  const name = secretName(secret)
  return (
    <SecretRow
      secret={secret}
      maker={<Maker visit={visit} app={app} secret={secret} />}
      actions={
        <>
          {status === 'suspended' ? (
            <a class="button small" href={credentialsPath(app.slug, id, 'confirm')}>
              Reactivate<span class="unseen">: {name}</span>
            </a>
          ) : null}
          <a class="button small" href={credentialsPath(app.slug, id, 'revoke')}>
            Revoke<span class="unseen">: {name}</span>
          </a>
        </>
      }
    />
  )
}

/** Who made a secret. An operator at the command line has the name of their account on the machine. */
const Maker = ({ visit, app, secret: { createdBy } }: LiveSecretProps) => {
  if (createdBy === null) return <>an unknown person</>
  const { kind, id } = createdBy
  if (id === visit.userId) return <>you</>
  if (id === app.owner.id) return <>the owner</>
  if (id?.startsWith('usr_') !== true) return <>{id === null ? kind : `${id} at the command line`}</>
  return <a href={userPath(id)}>{kind === 'operator' ? 'an operator' : 'another owner'}</a>
}
