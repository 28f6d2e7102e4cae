import { keyRights, maximumKeyDays, type ServiceRight } from '../../domain/service-key.ts'
import {
  confirmServiceKey,
  countServiceKeys,
  createServiceKey,
  listServiceKeys,
  revokeServiceKey,
  rotateServiceKey,
  serviceKeyOf,
  type ServiceKeyRecord,
} from '../../operations/service-keys/change-service-keys.ts'
import { Badge } from '../design/badge.tsx'
import { EmptyState } from '../design/list-tools.tsx'
import { ChoiceList, ChoiceSet, line } from '../design/field.tsx'
import { ListRows, Row } from '../design/row-list.tsx'
import { Facts, LastUsed, ShownOnce, Time } from '../design/values.tsx'
import { formOf, numberIn, text, texts } from '../form.ts'
import { page } from '../page.ts'
import { list, listRoutes } from '../list.ts'
import { GraceField, secretPage, showOnce } from '../secret-page.tsx'
import { noticesOf, StepLinks, stepRoutes, stepsOf } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { deskAudit } from './audit.tsx'
import { deskArea, deskForm, DeskPage, deskPaths, serviceKeyPath } from './desk-page.tsx'
import { pageFor, routes } from '../change.tsx'

const pattern = '/desk/service-keys/:id'
const deskServiceKeys = list('desk-service-keys', deskPaths.serviceKeys, {})
const createForm = formOf({
  name: line('Name', { hint: 'Who uses it, such as “Builder backend”.' }),
  networks: line('Networks', {
    hint: 'Optional. The only addresses it works from, such as 10.0.0.0/8 or 192.0.2.7, separated by spaces or commas.',
    required: false,
  }),
  expiresInDays: line('Days until it expires', {
    hint: `Optional: 1 to ${maximumKeyDays}. Without it, the key works until you rotate or revoke it.`,
    required: false,
  }),
  rights: texts,
})
/** The keys with which the builder calls the management API. */
export const serviceKeyRoutes = routes(() => [
  stepRoutes(...serviceKeySteps),
  listRoutes(deskServiceKeys, { by: 'operator', show: showList }),
  deskForm(deskPaths.newServiceKey, {
    title: 'Create a service key',
    tab: deskPaths.serviceKeys,
    effect: 'gives a secret',
    form: createForm,
    more: () => <Rights />,
    button: 'Create the key',
    act: async ({ visit, fields: { name, rights, networks, expiresInDays: days }, ticket }) => {
      const input = {
        name,
        rights,
        networks: networks.split(/[\s,]+/).filter((word) => word !== ''),
        expiresInDays: days === '' ? null : numberIn(days),
      }
      return showNewKey(visit, await visit.asOperator({ ticket }).do(createServiceKey, input))
    },
  }),
  pageFor('operator', pattern, async (visit, { id }) => showKey(visit, await serviceKeyOf(visit.door.platform, id))),
  pageFor('operator', `${pattern}/new`, async (visit, { id }) =>
    showSecretOf(visit, await serviceKeyOf(visit.door.platform, id)),
  ),
])

const showList = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const keys = await deskServiceKeys.read(visit).rows((window) => listServiceKeys(platform, window))
  return page(
    <DeskPage
      title="Service keys"
      about="The builder’s backend uses service keys to call the management API: it sends users and sites, and checks the tokens of apps."
      visit={visit}
      tab={deskPaths.serviceKeys}
      add={[deskPaths.newServiceKey, 'Create a service key']}
    >
      <ListRows
        label="Service keys"
        of={keys}
        row={(key) => <KeyRow key={key.id} of={key} />}
        empty={
          <EmptyState title="No service keys yet">Without one, the builder cannot call the management API.</EmptyState>
        }
        total={await countServiceKeys(platform)}
      />
    </DeskPage>,
  )
}

const KeyRow = ({
  of: { id, name, rights, networks, status, expiresAt, lastUsedAt },
}: {
  readonly of: ServiceKeyRecord
}) => (
  <Row
    href={serviceKeyPath(id)}
    title={<bdi>{name}</bdi>}
    badge={<KeyStatus status={status} expiresAt={expiresAt} />}
    facts={[
      rights.length === keyRights.length ? 'All rights' : rights.join(', '),
      networks.length === 0 ? 'Any network' : networks.join(', '),
      <LastUsed at={lastUsedAt} />,
    ]}
  />
)

const KeyStatus = ({ status, expiresAt }: Pick<ServiceKeyRecord, 'status' | 'expiresAt'>) => {
  if (status === 'ended') return <Badge>Ended</Badge>
  if (status === 'suspended') return <Badge tone="bad">Suspended</Badge>
  if (expiresAt === null) return <Badge tone="good">Active</Badge>
  return (
    <Badge tone="good">
      Active until <Time at={expiresAt} />
    </Badge>
  )
}

/** What each right allows, on the form and on the page of a key. */
const rightWords: Readonly<Record<ServiceRight, string>> = {
  'users:read': 'Read and export users',
  'users:write': 'Create, change, disable and erase users, and end their access',
  'resources:read': 'Read websites and stores',
  'resources:write': 'Create, change, import and remove websites and stores',
  'apps:read': 'Read the apps of users',
  'apps:write': 'Transfer and delete apps of users',
  'installs:read': 'Read installs',
  'installs:write': 'Approve, reject and deactivate installs',
  'scopes:read': 'Read your own scopes',
  'scopes:write': 'Add and retire your own scopes, and give restricted ones to apps',
  'sign-in': 'Sign in users who come from the builder',
  'tokens:introspect': 'Check the tokens of every app',
  'webhooks:read': 'Read the builder’s webhook endpoints and what was sent to them',
  'webhooks:write': 'Test the builder’s webhook endpoints, and send events again',
  'audit:read': 'Read the audit log',
  operate: 'Run commands of operators over the network: needs networks and days until it expires',
}

const Rights = () => (
  <>
    <ChoiceSet legend="Rights" name="rights">
      <ChoiceList
        name="rights"
        options={keyRights.map((right) => [right, rightWords[right], <code>{right}</code>])}
        chosen={[]}
      />
    </ChoiceSet>
    <p class="muted">No key can create, change, sign in or disable an operator, whatever its rights.</p>
  </>
)

const showSecretOf = (visit: Visit, { id, name }: ServiceKeyRecord): Response =>
  secretPage(visit, (value) => (
    <DeskPage
      title="New service key"
      belongsTo={name}
      crumbs={[{ href: serviceKeyPath(id), name }]}
      visit={visit}
      tab={deskPaths.serviceKeys}
    >
      <ShownOnce
        value={value}
        what="key"
        label="Service key"
        advice="rotate the key and copy the new one"
        back={{ href: serviceKeyPath(id), name: 'the key' }}
      >
        <p>
          Store it where the backend of your builder keeps its secrets. The backend sends it as{' '}
          <code>Authorization: Bearer apok_…</code>.
        </p>
      </ShownOnce>
    </DeskPage>
  ))

const showKey = (visit: Visit, key: ServiceKeyRecord): Response => {
  const { id, name, rights, networks, status, createdAt, expiresAt, revokedAt, lastUsedAt } = key
  return page(
    <DeskPage
      title={name}
      belongsTo="Service key"
      badges={<KeyStatus status={status} expiresAt={expiresAt} />}
      visit={visit}
      tab={deskPaths.serviceKeys}
      notices={noticesOf(...serviceKeySteps)}
    >
      <Facts
        of={{
          Rights: (
            <ul>
              {rights.map((right) => (
                <li key={right}>
                  {rightWords[right]} (<code>{right}</code>)
                </li>
              ))}
            </ul>
          ),
          Networks: networks.length === 0 ? 'Any' : networks.join(', '),
          'Last used': <Time at={lastUsedAt} otherwise="Never" />,
          Created: <Time at={createdAt} />,
          Expires: expiresAt && <Time at={expiresAt} />,
          Revoked: revokedAt && <Time at={revokedAt} />,
          ID: <code>{id}</code>,
          Events: (
            <>
              <a href={deskAudit.to({ actor: id })}>Events by this key</a> ·{' '}
              <a href={deskAudit.to({ target: id })}>Changes to this key</a>
            </>
          ),
        }}
      />
      {status === 'ended' ? null : (
        <>
          <h2>Change</h2>
          <StepLinks visit={visit} steps={serviceKeySteps} of={key} params={{ id }} />
        </>
      )}
    </DeskPage>,
  )
}

const ofKey = stepsOf({
  area: deskArea,
  root: '/desk/service-keys/:id',
  find: async ({ door }, { id }) => await serviceKeyOf(door.platform, id),
  belongsTo: ({ name }) => name,
})

/** Redirects to the page that shows a new key once. */
const showNewKey = (visit: Visit, { id, secret }: { readonly id: string; readonly secret: string }): Response =>
  showOnce(visit, serviceKeyPath(id, 'new'), secret)

const whyEnded = ({ status }: ServiceKeyRecord) => (status === 'ended' ? 'This key has ended.' : null)

const confirmation = ofKey('confirm', {
  link: ['Reactivate the key', 'It was suspended because data was lost.'],
  unless: ({ status }) => (status === 'suspended' ? null : 'This key is not suspended.'),
  effect: 'gives a right',
  ask: () => ({
    title: 'Reactivate this key?',
    says: (
      <p>
        It was suspended because data was lost, and the lost data may include its revocation. Reactivate it only if you
        know that it had not been revoked.
      </p>
    ),
    button: 'Reactivate the key',
    tone: 'harmless',
  }),
  act: async ({ visit }, { id }) => await visit.asOperator().do(confirmServiceKey, id),
  done: { confirmed: 'The key works again.' },
})

const rotation = ofKey('rotate', {
  link: ['Rotate the key', 'Creates a new one with the same rights. The old one ends later.'],
  unless: whyEnded,
  effect: 'gives a secret',
  form: formOf({ graceHours: text }),
  ask: () => ({
    title: 'Rotate this key?',
    says: (
      <p>
        You get a new key with the same rights and networks, which is shown once. The old key ends after the hours
        below, so that you can update the backend in the meantime. With 0 hours it ends at once.
      </p>
    ),
    button: 'Rotate the key',
    fields: <GraceField label="Hours until the old key ends" hint="0 ends it at once." />,
  }),
  act: async ({ visit, fields, ticket }, { id }) => {
    const graceHours = numberIn(fields.graceHours)
    return showNewKey(visit, await visit.asOperator({ ticket }).do(rotateServiceKey, { id, graceHours }))
  },
  done: {},
  again:
    'This form was sent before. Only the first answer showed the new key. If you did not copy it, rotate that key.',
})

const revocation = ofKey('revoke', {
  link: ['Revoke the key', 'It stops working at once.'],
  unless: whyEnded,
  effect: 'takes away',
  ask: (_, { lastUsedAt }) => ({
    title: 'Revoke this key?',
    says: (
      <p>
        Every call with it is refused from now on. This cannot be undone. Last use:{' '}
        <Time at={lastUsedAt} otherwise="never" />. Users, websites and stores that it sent stay.
      </p>
    ),
    button: 'Revoke the key',
  }),
  act: async ({ visit }, { id }) => await visit.asOperator().do(revokeServiceKey, id),
  done: { revoked: 'The key is revoked. Calls with it are refused from now on.' },
})

/** What ends a service key, or lets it work again, in the order of the links to it. */
const serviceKeySteps = [confirmation, rotation, revocation]
