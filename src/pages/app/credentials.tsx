import { type Environment, environments } from '../../domain/app.ts'
import { maximumLiveSecrets } from '../../domain/credential.ts'
import { rightOverSecrets } from '../../domain/member.ts'
import { mayInActiveApp } from '../../operations/acting-as.ts'
import {
  confirmCredential,
  createCredential,
  type ListedSecret,
  listEndedCredentials,
  listLiveCredentials,
  ownsCredential,
  revokeCredential,
  rotateCredential,
} from '../../operations/credentials/credentials.ts'
import { formPage, routes, secretShownBefore } from '../change.tsx'
import { Badge, EnvironmentBadge } from '../design/badge.tsx'
import { Fields, line } from '../design/field.tsx'
import { Form, LinkButton, MainLink, SendOrCancel } from '../design/form.tsx'
import { FilterBar, isLong, noMatch, Pager } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { Table } from '../design/table.tsx'
import { ChosenName, Copyable, LastUsed, Lines, ShownOnce, Time } from '../design/values.tsx'
import { userPath } from '../desk/desk-page.tsx'
import { formOf, numberIn, text } from '../form.ts'
import { list, listRoutes, search } from '../list.ts'
import { page } from '../page.ts'
import { GraceField, secretPage, showOnce } from '../secret-page.tsx'
import { noticesOf, StepButton } from '../step.tsx'
import type { Visit } from '../visit.ts'
import {
  acting,
  addressIn,
  Allowed,
  appFor,
  AppPage,
  type AppPlace,
  type AppVisit,
  type AtApp,
  ClientId,
  environmentField,
  inBoth,
  inEnvironment,
  pageOfApp,
  stepsBelow,
  whyNot,
} from './app-area.tsx'
import { refuse } from '../../domain/errors.ts'
import { appTokensOf } from '../../operations/reach.ts'

const createForm = formOf({
  environment: environmentField,
  label: line('Label', { hint: 'Optional. For example, where the secret will be stored.', required: false }),
})

type Slug = { readonly slug: string }

/** The client secrets of an app. In a suspended app members can revoke secrets, but not create any. */
export const credentialRoutes = (place: AppPlace) =>
  routes(() => [
    formPage(place.pattern('credentials/new'), {
      sentTo: place.pattern('credentials'),
      by: place.by,
      effect: 'gives a secret',
      form: createForm,
      show: showForm,
      act: async ({ visit, fields: { environment, label }, ticket }, { slug }) => {
        const input = { slug, environment, label: label === '' ? null : label }
        const may = mayInActiveApp(slug, rightOverSecrets(environment))
        return showSecret(visit, slug, await acting(visit, may, ticket).do(createCredential, input))
      },
      // A form that is sent twice creates one secret, and only the first answer shows it.
      again: ({ visit }, { slug }) => ({
        section: place.key,
        message: secretShownBefore('revoke it and create another'),
        href: addressIn(visit, slug, 'credentials'),
        name: 'See the credentials',
      }),
    }),
    pageOfApp(place, 'credentials', show),
    pageOfApp(place, 'credentials/:id/secret', showNew),
    listRoutes(endedSecrets[place.key], { by: place.by, show: showEnded }),
  ])

const show = async (at: AppVisit): Promise<Response> => {
  const { visit, environment, app } = at
  const secrets = (await listLiveCredentials(visit.door.platform, app.clientIds))[environment]
  const isFull = secrets.length >= maximumLiveSecrets
  return page(
    <AppPage
      at={at}
      tab="credentials"
      title="Credentials"
      switches
      notices={noticesOf(secretRevocation, secretConfirmation)}
      actions={
        at.may(rightOverSecrets(environment)) ? (
          <>
            {secrets.length === 0 ? null : (
              <LinkButton href={secretRotation.href(visit, { slug: app.slug }, { environment })}>
                Rotate the {environment} secret
              </LinkButton>
            )}
            {isFull ? null : <MainLink href={at.path('credentials', 'new')}>Create a {environment} secret</MainLink>}
          </>
        ) : undefined
      }
    >
      <p>
        A backend authenticates with a client ID and a client secret. A secret is shown once, when it is created. Only
        its hash is stored. Keep secrets out of browsers, mobile apps and repositories.
      </p>
      <p>
        Client ID <ClientId at={at} environment={environment} />
      </p>
      <RowList
        label={`Secrets in ${environment}`}
        rows={secrets}
        row={(secret) => <LiveSecret at={at} secret={secret} />}
        empty={noSecret[environment]}
      />
      <Allowed at={at} right={rightOverSecrets(environment)}>
        {isFull ? (
          <p class="muted">
            Two secrets are active, which is the maximum. To create another, revoke one or wait until it expires.
          </p>
        ) : null}
      </Allowed>
      <p>
        <a href={at.path('credentials', 'ended')}>See the secrets that were revoked or have expired</a>
      </p>
    </AppPage>,
  )
}

const noSecret = {
  development: 'No active secret. Create one to make your first call.',
  production: 'No active secret. Create one when you are ready for real users.',
} as const satisfies Record<Environment, string>

/** The form of a new secret. */
const showForm = async (visit: Visit, { slug }: Slug): Promise<Response> => {
  const at = await appFor(visit, slug)
  const { environment } = at
  return page(
    <AppPage at={at} tab="credentials" title={`Create a ${environment} secret`}>
      <Allowed at={at} right={rightOverSecrets(environment)}>
        <Form action={at.path('credentials')} visit={visit} hidden={{ environment }} class="measure">
          <Fields of={createForm} />
          <SendOrCancel button="Create the secret" back={at.path('credentials')} />
        </Form>
      </Allowed>
    </AppPage>,
  )
}

type OfSecret = AtApp & { readonly secret: ListedSecret }

/** A secret that has not ended. Everything is shown except the secret itself. */
const LiveSecret = ({ at, secret }: OfSecret) => {
  const link = {
    visit: at.visit,
    of: { at, secret },
    params: { slug: at.app.slug, id: secret.id },
    look: 'small',
  } as const
  const named = (
    <>
      {': '}
      <bdi>{secretName(secret)}</bdi>, {secret.environment}
    </>
  )
  return (
    <Row
      key={secret.id}
      title={<bdi>{secretName(secret)}</bdi>}
      badge={<SecretStatus secret={secret} />}
      facts={[
        <>
          Ends with <SecretHint secret={secret} />
        </>,
        <>
          Created <Time at={secret.createdAt} /> by <Maker at={at} secret={secret} />
        </>,
        <LastUsed at={secret.lastUsedAt} />,
        <code>{secret.id}</code>,
      ]}
      actions={
        at.may(rightOverSecrets(secret.environment)) ? (
          <>
            <StepButton {...link} step={secretConfirmation}>
              {named}
            </StepButton>
            <StepButton {...link} step={secretRevocation}>
              {named}
            </StepButton>
          </>
        ) : undefined
      }
    >
      {secret.status === 'suspended' && at.as === 'member' ? (
        <p class="row-facts">
          Data was lost on this platform, and this secret may have been revoked before. It does not work until an
          operator confirms it: <code>app-platform credential confirm {secret.id}</code>. You can rotate it instead.
        </p>
      ) : null}
    </Row>
  )
}

/** The end of a secret, to compare with a copy of it. */
const SecretHint = ({ secret: { hint } }: Pick<OfSecret, 'secret'>) =>
  hint === null ? <span class="muted">Not recorded</span> : <code>…{hint}</code>

const SecretStatus = ({ secret: { status, expiresAt } }: Pick<OfSecret, 'secret'>) => {
  if (status !== 'live') return <Badge tone="bad">{status === 'suspended' ? 'Suspended' : 'Ended'}</Badge>
  if (expiresAt === null) return <Badge tone="good">Active</Badge>
  return (
    <Badge tone="waiting">
      Active until <Time at={expiresAt} />
    </Badge>
  )
}

/**
 * Who made a secret, in the middle of a sentence. Members learn no name. An operator at the command line has the name of their
 * account on the machine.
 */
const Maker = ({ at: { visit, as, app }, secret: { createdBy } }: OfSecret) => {
  if (createdBy === null) return <>an unknown person</>
  const { kind, id } = createdBy
  if (id === visit.userId) return <>you</>
  if (as === 'member') return <>{kind === 'user' ? 'another member' : 'an operator'}</>
  if (id === app.ownerId) return <>the publisher</>
  if (id?.startsWith('usr_') !== true) return <>{id === null ? kind : `${id} at the command line`}</>
  return <a href={userPath(id)}>{kind === 'operator' ? 'an operator' : 'another member'}</a>
}

/** The only page that shows a secret. */
const showNew = async (found: AppVisit, { id }: { readonly id: string }): Promise<Response> => {
  const { at, secret: created, others } = await liveSecretOf(found, id)
  const old = others[0]
  return secretPage(at.visit, (value) => (
    <AppPage at={at} tab="credentials" title={value === null ? 'Secret' : 'Your new secret'}>
      <p>
        <EnvironmentBadge environment={created.environment} /> <bdi>{created.label ?? ''}</bdi>
      </p>
      <p>
        Client ID <Copyable id="client-id" value={at.app.clientIds[at.environment]} what="the client ID" />
      </p>
      <ShownOnce
        value={value}
        what="secret"
        label="Client secret"
        advice="create or rotate one"
        back={{ href: at.path('credentials'), name: 'the credentials' }}
      >
        {at.as === 'operator' ? <p>Give the secret to the developer over a channel that you trust.</p> : null}
      </ShownOnce>
      {old?.expiresAt == null ? null : (
        <p>
          The previous secret expires <Time at={old.expiresAt} />.
        </p>
      )}
      {value === null || at.as === 'operator' ? null : (
        <p>
          <a href={at.path('first-call')}>Make the first call with it</a>
        </p>
      )}
    </AppPage>
  ))
}

const endedSecrets = inBoth(({ key, pattern }) =>
  list(key === 'console' ? 'ended-secrets' : 'desk-ended-secrets', pattern('credentials/ended'), {
    q: search('Label or ID'),
  }),
)

/** The secrets that were revoked or have expired. */
const showEnded = async (visit: Visit, { slug }: Slug): Promise<Response> => {
  const at = await appFor(visit, slug)
  const asked = endedSecrets[at.place.key].read(visit, { slug })
  const secrets = await asked.rows((part) =>
    listEndedCredentials(visit.door.platform, at.app.clientIds, at.environment, part, asked.values.q),
  )
  return page(
    <AppPage at={at} tab="credentials" title="Ended secrets" switches>
      <FilterBar of={asked} isShown={isLong(secrets)} />
      <Table
        label="Ended secrets"
        rows={secrets.rows}
        columns={{
          Secret: ({ id, label }) => (
            <Lines of={[<bdi>{label ?? 'Without a label'}</bdi>, <code class="small">{id}</code>]} />
          ),
          'Ends with': (secret) => <SecretHint secret={secret} />,
          Created: (secret) => (
            <Lines
              of={[
                <Time at={secret.createdAt} />,
                <>
                  by <Maker at={at} secret={secret} />
                </>,
              ]}
            />
          ),
          'Last used': ({ lastUsedAt }) => <Time at={lastUsedAt} otherwise="Never" />,
          Ended: ({ revokedAt, expiresAt, createdAt }) => (
            <>
              {revokedAt === null ? 'Expired ' : 'Revoked '}
              <Time at={revokedAt ?? expiresAt ?? createdAt} />
            </>
          ),
        }}
        empty={noMatch(secrets, `No secret has ended in ${at.environment}.`)}
      />
      <Pager of={secrets} />
    </AppPage>,
  )
}

// What ends the client secrets of an app. In a suspended app members can revoke secrets, but make none.

/** A secret of this app that has not ended, in its environment and with the others of it. @throws route_not_found for any other */
const liveSecretOf = async (found: AppVisit, id: string) => {
  const live = await listLiveCredentials(found.visit.door.platform, found.app.clientIds)
  const secret = environments.flatMap((environment) => live[environment]).find((one) => one.id === id)
  if (secret === undefined) throw refuse('route_not_found')
  const at = inEnvironment(found, secret.environment)
  return { at, secret, others: live[secret.environment].filter((one) => one.id !== id) }
}

const toCredentials = ['credentials', 'Credentials'] as const
const ofSecret = (where?: readonly AppPlace['key'][]) =>
  stepsBelow(
    'credentials/:id',
    toCredentials,
    async (at, { id }): Promise<OfSecret> => await liveSecretOf(at, id),
    where,
  )

export const secretName = ({ label }: Pick<ListedSecret, 'label'>): string => label ?? 'Secret without a label'

/** Redirects to the page that shows a new secret once. */
export const showSecret = (
  visit: Visit,
  slug: string,
  { id, clientSecret }: { readonly id: string; readonly clientSecret: string },
): Response => showOnce(visit, addressIn(visit, slug, 'credentials', id, 'secret'), clientSecret)

const secretRevocation = ofSecret()('revoke', {
  link: ['Revoke'],
  unless: ({ at, secret }) => whyNot(at, rightOverSecrets(secret.environment)),
  effect: 'takes away',
  ask: async ({ door }, { at, secret }, { id }) => {
    const { others } = await liveSecretOf(at, id)
    const { environment, hint } = secret
    return {
      title: 'Revoke this secret?',
      says: (
        <p>
          The {environment} secret <ChosenName name={secretName(secret)} />{' '}
          {hint === null ? null : (
            <>
              (ends with <code>{hint}</code>){' '}
            </>
          )}
          of <bdi>{at.app.name}</bdi> and its app tokens stop working at once. Access that users have granted continues.
          This cannot be undone.
        </p>
      ),
      counts: [
        [await appTokensOf(door.platform, { secret: id }), 'app token stops working', 'app tokens stop working'],
        [others.length, `other ${environment} secret stays`, `other ${environment} secrets stay`],
      ],
      button: 'Revoke this secret',
    }
  },
  act: async ({ visit }, _, { slug, id }) => await acting(visit, ownsCredential(slug, id)).do(revokeCredential, id),
  done: { revoked: 'The secret is revoked. It has stopped working, and so have its app tokens.' },
})

export const secretRotation = stepsBelow('credentials', toCredentials, (at) => ({ at }))('rotate', {
  link: ['Rotate the secret'],
  unless: ({ at }) => whyNot(at, rightOverSecrets(at.environment), true),
  effect: 'gives a secret',
  form: formOf({ environment: environmentField, graceHours: text }),
  ask: async ({ door }, { at: { app, environment } }) => {
    const secrets = (await listLiveCredentials(door.platform, app.clientIds))[environment]
    return {
      title: `Rotate the ${environment} secret?`,
      says: (
        <p>
          <bdi>{app.name}</bdi> gets a new {environment} secret. The older ones stop working after the hours below, and
          so do their app tokens.
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
  act: async ({ visit, fields: { environment, graceHours }, ticket }, { at: { app } }, { slug }) => {
    const input = { clientId: app.clientIds[environment], graceHours: numberIn(graceHours) }
    const may = mayInActiveApp(slug, rightOverSecrets(environment))
    return showSecret(visit, slug, await acting(visit, may, ticket).do(rotateCredential, input))
  },
  done: {},
  again: secretShownBefore('revoke it and create another'),
})

/** Only operators can know what became of a secret while data was lost. */
const secretConfirmation = ofSecret(['desk'])('confirm', {
  link: ['Reactivate'],
  unless: ({ at, secret }) => {
    if (at.as === 'member') return 'Only an operator can do this.'
    return secret.status === 'suspended' ? null : 'This secret is not suspended.'
  },
  effect: 'gives a right',
  ask: (_, { at, secret }, { id }) => {
    return {
      title: 'Reactivate this secret?',
      says: (
        <p>
          The {secret.environment} secret <bdi>{secret.label ?? id}</bdi> of <ChosenName name={at.app.name} /> (
          <code>{at.app.slug}</code>) is suspended because data was lost, and it may have been revoked in the lost time.
          Reactivate it only if the app still uses it and nobody else has it. Otherwise rotate it.
        </p>
      ),
      button: 'Reactivate this secret',
      tone: 'harmless',
    }
  },
  act: async ({ visit }, _, { slug, id }) => await acting(visit, ownsCredential(slug, id)).do(confirmCredential, id),
  done: { confirmed: 'The secret works again.' },
})

export const secretSteps = [secretConfirmation, secretRevocation, secretRotation]
