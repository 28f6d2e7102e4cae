import { Elysia } from 'elysia'
import { type Environment, environments } from '../../domain/app.ts'
import { graceHours } from '../../domain/credential.ts'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import type { InspectedApp } from '../../operations/apps/overview.ts'
import { createCredential, rotateCredential } from '../../operations/credentials/change-credentials.ts'
import {
  type CredentialRecord,
  listLiveCredentials,
  type NewCredentialRecord,
} from '../../operations/credentials/list-credentials.ts'
import { Badge, EnvironmentBadge } from '../design/badge.tsx'
import { Field, Form, Problem, SelectField } from '../design/field.tsx'
import { Table } from '../design/table.tsx'
import { Copyable, Lines, Secret, Time } from '../design/values.tsx'
import { answerForm, formOf, receiveFromOperator, text } from '../form.ts'
import { page } from '../page.ts'
import { showOnce, takeShown } from '../shown-once.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { DeskAppPage, undeletedApp } from './app.tsx'
import { environmentChoice, environmentOptions } from './app-settings.tsx'
import { deskAppPath, onTheDesk } from './desk-page.tsx'

const notices = {
  revoked: 'The secret is revoked. It has stopped working, and so have its app tokens.',
  confirmed: 'The secret works again.',
} as const

const createForm = formOf({ environment: environmentChoice, label: text })
const rotateForm = formOf({ environment: environmentChoice, graceHours: text })

const pattern = '/desk/apps/:slug/credentials'
const credentialsPath = (slug: string, ...rest: readonly string[]): string => deskAppPath(slug, 'credentials', ...rest)

/** The client secrets of an app, and the page that shows a new one once. */
export const deskSecretRoutes = (door: Door) =>
  new Elysia()
    .get(pattern, async ({ request, params: { slug } }) => {
      const visit = await requireOperator(door, request)
      return await show(visit, await undeletedApp(door, slug), null)
    })
    .get(`${pattern}/new`, async ({ request, params: { slug } }) => {
      const visit = await requireOperator(door, request)
      return await showNew(visit, await undeletedApp(door, slug))
    })
    .post(pattern, async ({ request, params: { slug } }) => {
      const { visit, fields, ticket } = await receiveFromOperator(door, request, createForm)
      const app = await undeletedApp(door, slug)
      const { environment, label } = fields
      const input = { slug, environment, label: label.trim() === '' ? null : label.trim() }
      return await answerForm(createCredential(...onTheDesk(visit, undefined, ticket), input), {
        done: (created) => showSecret(visit, slug, created),
        refused: async (error) => await show(visit, app, { form: 'create', environment, typed: label, error }),
      })
    })
    .post(`${pattern}/rotate`, async ({ request, params: { slug } }) => {
      const { visit, fields, ticket } = await receiveFromOperator(door, request, rotateForm)
      const app = await undeletedApp(door, slug)
      const { environment, graceHours: typed } = fields
      // -1 is refused by the operation.
      const hours = /^\d{1,3}$/.test(typed) ? Number(typed) : -1
      const input = { clientId: app.clientIds[environment], graceHours: hours }
      return await answerForm(rotateCredential(...onTheDesk(visit, undefined, ticket), input), {
        done: (created) => showSecret(visit, slug, created),
        refused: async (error) => await show(visit, app, { form: 'rotate', environment, typed, error }),
      })
    })

const showSecret = (visit: Visit, slug: string, { clientSecret }: NewCredentialRecord): Response =>
  showOnce(visit, credentialsPath(slug, 'new'), clientSecret)

const showNew = async (visit: Visit, app: InspectedApp): Promise<Response> => {
  const { value, cookies } = takeShown(visit)
  const back = credentialsPath(app.slug)
  return page(
    <DeskAppPage title="New secret" app={app} part="credentials" visit={visit}>
      {value === null ? (
        <p>
          There is no new secret to show. Each one is shown once, right after it was created. If nobody copied it,
          revoke it and create another one.
        </p>
      ) : (
        <>
          <p>
            Give the secret to the developer over a channel that you trust. The client ID is{' '}
            <Copyable id="client" value={app.clientIds[environmentOf(value)]} what="the client ID" />.
          </p>
          <Secret label="Client secret" value={value} />
        </>
      )}
      <p>
        <a href={back}>{value === null ? 'Go to the credentials' : 'I have copied it: go to the credentials'}</a>
      </p>
    </DeskAppPage>,
    { cookies },
  )
}

/** The environment is part of a secret (contract section 2). */
const environmentOf = (secret: string): Environment => (secret.startsWith('aps_live_') ? 'production' : 'development')

type RefusedForm = {
  readonly form: 'create' | 'rotate'
  readonly environment: Environment
  readonly typed: string
  readonly error: PlatformError
}

const show = async (visit: Visit, app: InspectedApp, refused: RefusedForm | null): Promise<Response> => {
  const live = await listLiveCredentials(visit.door.platform, app.clientIds)
  const again = (form: RefusedForm['form']) => (refused?.form === form ? refused : null)
  const [create, rotate] = [again('create'), again('rotate')]
  const error = refused?.error ?? null
  return page(
    <DeskAppPage title="Credentials" app={app} part="credentials" visit={visit} notices={notices}>
      <Problem error={error} />
      {environments.map((environment) => (
        <p key={environment}>
          <EnvironmentBadge environment={environment} /> Client ID{' '}
          <Copyable
            id={`client-${environment}`}
            value={app.clientIds[environment]}
            what={`the ${environment} client ID`}
          />
        </p>
      ))}
      <Table
        label="Active secrets"
        rows={environments.flatMap((environment) => live[environment])}
        rowHeader="Secret"
        columns={{
          Secret: ({ id, label }) => (
            <Lines of={[<bdi>{label ?? 'Without a label'}</bdi>, <code class="small">{id}</code>]} />
          ),
          Environment: ({ environment }) => <EnvironmentBadge environment={environment} />,
          Status: (secret) => <SecretStatus secret={secret} />,
          Created: ({ createdAt }) => <Time at={createdAt} />,
          'Last used': ({ lastUsedAt }) => <Time at={lastUsedAt} otherwise="Never" />,
          Action: (secret) => <SecretActions slug={app.slug} secret={secret} />,
        }}
        empty="This app has no active secret. Without one it cannot authenticate."
      />
      <h2>Create a secret</h2>
      <Form action={credentialsPath(app.slug)} visit={visit} class="measure">
        <SelectField
          id="create-environment"
          label="Environment"
          name="environment"
          options={environmentOptions}
          value={create?.environment ?? 'development'}
        />
        <Field
          label="Label"
          name="label"
          hint="Optional. For example, where the secret will be stored."
          error={create?.error ?? null}
          input={{ value: create?.typed ?? '', maxLength: 200, autocomplete: 'off' }}
        />
        <button type="submit">Create a secret</button>
      </Form>
      <h2>Rotate</h2>
      <p>A rotation creates a new secret. The older ones expire after the hours that you give.</p>
      <Form action={credentialsPath(app.slug, 'rotate')} visit={visit} class="measure">
        <SelectField
          id="rotate-environment"
          label="Environment"
          name="environment"
          options={environmentOptions}
          value={rotate?.environment ?? 'development'}
        />
        <Field
          label="Hours until the older secrets expire"
          name="graceHours"
          hint={`0 to ${graceHours.maximum}. With 0 they stop working at once.`}
          error={rotate?.error ?? null}
          input={{
            type: 'number',
            value: rotate?.typed ?? String(graceHours.default),
            min: 0,
            max: graceHours.maximum,
            required: true,
          }}
        />
        <button type="submit">Rotate</button>
      </Form>
    </DeskAppPage>,
    { refusal: error },
  )
}

const SecretStatus = ({ secret: { status, expiresAt } }: { readonly secret: CredentialRecord }) => {
  if (status === 'suspended') return <Badge tone="bad">Suspended</Badge>
  if (expiresAt === null) return <Badge tone="good">Active</Badge>
  return <Lines of={[<Badge tone="waiting">Rotated, expires</Badge>, <Time at={expiresAt} />]} />
}

type SecretActionsProps = { readonly slug: string; readonly secret: CredentialRecord }

const SecretActions = ({ slug, secret: { id, label, status } }: SecretActionsProps) => {
  const name = label ?? id
  return (
    <Lines
      of={[
        status === 'suspended' ? (
          <a href={credentialsPath(slug, id, 'confirm')} aria-label={`Reactivate ${name}`}>
            Reactivate…
          </a>
        ) : null,
        <a href={credentialsPath(slug, id, 'revoke')} aria-label={`Revoke ${name}`}>
          Revoke…
        </a>,
      ]}
    />
  )
}
