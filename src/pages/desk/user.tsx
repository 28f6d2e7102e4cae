import { Elysia } from 'elysia'
import { builderPage, mayUsePassword, type SignInRules } from '../../domain/sign-in-rules.ts'
import type { Door } from '../../http/door.ts'
import { renameUser, setUserEmail } from '../../operations/users/users.ts'
import { type InspectedUser, inspectUser } from '../../operations/users/find-user.ts'
import { setUserStatus } from '../../operations/users/set-user-status.ts'
import { changed } from '../change.tsx'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge } from '../design/badge.tsx'
import { Field } from '../design/field.tsx'
import { ButtonForm, Form } from '../design/form.tsx'
import { Row, RowList, type StepLink, StepLinks } from '../design/row-list.tsx'
import { Details, Facts, Time } from '../design/values.tsx'
import { emptyForm, formOf, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { deskAudit } from './audit.tsx'
import { deskAppPath, DeskPage, deskPaths, userPath } from './desk-page.tsx'
import { counted } from '../words.ts'
import { UserBadges } from './users.tsx'

const notices = {
  renamed: 'The user has the new name.',
  email: 'The user signs in with the new address from now on.',
  disable: 'The user is disabled and signed out. The audit log lists what ended.',
  'disable-transfer':
    'The user is disabled and signed out. Their apps have a new owner. The previous owner may know the secrets of these apps: ask the new owner to rotate them.',
  enable: 'The user is enabled and can sign in again. Suspended apps stay suspended.',
  'end-access': 'All access of the user has ended. The audit log lists what ended.',
  'make-operator': 'The user is now an operator.',
  'withdraw-operator': 'The user is no longer an operator.',
  confirm: 'The user can sign in again.',
  'reset-factors': 'The second factors of the user are reset, and their sessions have ended.',
} as const

const userPattern = '/desk/users/:id'
const nameForm = formOf({ name: text })
const emailForm = formOf({ to: text })

/** One user, and what can be changed about them. `user-steps.tsx` has what asks first. */
export const deskUserRoutes = (door: Door) =>
  new Elysia()
    .get(userPattern, async ({ request, params }) => await show(await requireOperator(door, request), params))
    .get(
      `${userPattern}/edit`,
      async ({ request, params }) => await showEdit(await requireOperator(door, request), params),
    )
    .use(
      changed(door, `${userPattern}/enable`, {
        by: 'operator',
        proof: 'asked',
        form: emptyForm,
        show,
        act: async ({ visit }, { id }) => {
          const { email } = await inspectUser(door.platform, id)
          await visit.asOperator().do(setUserStatus, { email, status: 'active' })
          return seeOther(`${userPath(id)}?done=enable`)
        },
      }),
    )
    .use(
      changed(door, `${userPattern}/rename`, {
        by: 'operator',
        proof: 'none',
        form: nameForm,
        show: showEdit,
        act: async ({ visit, fields: { name } }, { id }) => {
          const { email } = await inspectUser(door.platform, id)
          await visit.asOperator().do(renameUser, { email, name })
          return seeOther(`${userPath(id)}?done=renamed`)
        },
      }),
    )
    .use(
      changed(door, `${userPattern}/set-email`, {
        by: 'operator',
        proof: 'asked',
        form: emailForm,
        show: showEdit,
        act: async ({ visit, fields: { to } }, { id }) => {
          const { email } = await inspectUser(door.platform, id)
          await visit.asOperator().do(setUserEmail, { email, to })
          return seeOther(`${userPath(id)}?done=email`)
        },
      }),
    )

type Id = { readonly id: string }

const show = async (visit: Visit, { id }: Id): Promise<Response> => {
  const user = await inspectUser(visit.door.platform, id)
  const isOneself = user.id === visit.userId
  return page(
    <DeskPage
      title={user.name}
      about={user.email}
      avatarId={user.id}
      badges={<UserBadges user={user} />}
      belongsTo={user.email}
      visit={visit}
      tab={deskPaths.users}
      notices={notices}
      actions={
        <a class="button" href={userPath(id, 'edit')}>
          Change name or address
        </a>
      }
    >
      {user.addressHolders.map((holder) => (
        <p class="notice">
          The identity provider says that the address of{' '}
          <a href={userPath(holder.id)}>
            <bdi>{holder.name}</bdi>
          </a>{' '}
          belongs to this user now. Both accounts stay as they are. Once that account has another address or is erased,
          this one gets the address when the user signs in again.
        </p>
      ))}
      <UserFacts user={user} ways={waysOf(visit.door.platform.signIn, user)} />
      <OwnApps user={user} mostApps={visit.door.platform.quotas.apps} />
      <h2>Access and rights</h2>
      {isOneself ? (
        <p class="muted">
          This is you. Only another operator can disable you or remove your operator rights. To change your password, go
          to <a href="/account/password">Account, Password</a>, which asks for the current one.
        </p>
      ) : (
        <>
          {user.status === 'active' ? null : (
            <div class="step">
              <p>
                The user is disabled. If you enable them, they can sign in again, and the access that they gave to apps
                works again unless it has expired. Their suspended apps stay suspended.
              </p>
              <ButtonForm action={userPath(id, 'enable')} visit={visit} asks={proveFirst(visit)}>
                Enable this user
              </ButtonForm>
            </div>
          )}
          <StepLinks steps={stepsFor(visit.door.platform.signIn, user)} pathOf={(step) => userPath(id, step)} />
        </>
      )}
    </DeskPage>,
  )
}

const UserFacts = ({ user, ways }: { readonly user: InspectedUser; readonly ways: readonly string[] }) => (
  <Facts
    of={{
      'Signs in': ways.length === 0 ? 'Cannot sign in: no method is available to them' : ways.join(', '),
      'ID in the builder': user.externalId && <code>{user.externalId}</code>,
      Suspended: user.suspendedAt && (
        <>
          Since <Time at={user.suspendedAt} /> because data was lost.
        </>
      ),
      'Second factors': hasFactors(user)
        ? [
            ...(user.factors.totp === null ? [] : ['Authenticator app']),
            ...(user.factors.passkeys.length === 0 ? [] : [counted(user.factors.passkeys.length, 'passkey')]),
          ].join(', ')
        : null,
      Created: <Time at={user.createdAt} />,
      ID: <code>{user.id}</code>,
      Events: <a href={deskAudit.to({ actor: user.id })}>User audit log</a>,
    }}
  />
)

/** In which ways the user signs in here, with the settings of this server. */
const waysOf = (
  rules: SignInRules,
  { isOperator, hasPassword, externalId, issuers }: InspectedUser,
): readonly string[] => [
  ...(hasPassword && mayUsePassword(rules, isOperator) ? ['With a password'] : []),
  ...(externalId !== null && !isOperator && builderPage(rules) !== null ? ['Through the builder'] : []),
  ...(rules.ways.includes('oidc') ? issuers.map((issuer) => `With an account at ${new URL(issuer).host}`) : []),
]

/** More than these are folded. */
const shownApps = 10

const OwnAppRow = ({ appId, slug, name, status }: InspectedUser['apps'][number]) => (
  <Row
    key={slug}
    href={deskAppPath(slug)}
    avatar={<Avatar id={appId} name={name} />}
    title={<bdi>{name}</bdi>}
    badge={<AppStatusBadge status={status} />}
    facts={[<code>{slug}</code>]}
  />
)

type OwnAppsProps = { readonly user: InspectedUser; readonly mostApps: number }

const OwnApps = ({ user, mostApps }: OwnAppsProps) => (
  <section aria-labelledby="own-apps">
    <h2 id="own-apps">Own apps</h2>
    <p class="muted">
      {user.apps.length} of {mostApps} apps.
    </p>
    <RowList rows={user.apps.slice(0, shownApps)} row={OwnAppRow} />
    {user.apps.length <= shownApps ? null : (
      <Details summary={`${user.apps.length - shownApps} more`}>
        <RowList rows={user.apps.slice(shownApps)} row={OwnAppRow} label="More of their apps" />
      </Details>
    )}
    {user.status === 'active' ? (
      <p>
        <a class="button small" href={`${deskPaths.newApp}?${new URLSearchParams({ owner: user.email }).toString()}`}>
          Create an app for this user
        </a>
      </p>
    ) : null}
  </section>
)

const steps = {
  confirm: ['confirm', 'Let this user sign in again', 'They were suspended because data was lost.'],
  resetLink: ['reset-link', 'Create a reset link', 'With it they set a new password. The old one works until then.'],
  firstLink: ['reset-link', 'Create a link to set a password', 'They have no password yet.'],
  factors: ['reset-factors', 'Reset the second factors', 'For a user who has lost them. Their sessions end.'],
  end: ['end-access', 'End all access', 'Their sessions end, and every app loses the access that they gave it.'],
  make: ['make-operator', 'Make them an operator', 'They can then do everything that you can do here.'],
  withdraw: ['withdraw-operator', 'Remove operator rights', 'They keep their account and their apps.'],
  disable: ['disable', 'Disable this user', 'They cannot sign in, and apps can no longer act for them.'],
} as const satisfies Record<string, StepLink>

const hasFactors = ({ factors: { totp, passkeys } }: InspectedUser): boolean => totp !== null || passkeys.length > 0

/** Only for people who may use one. */
const passwordSteps = (rules: SignInRules, user: InspectedUser): readonly StepLink[] => {
  if (user.status !== 'active' || !mayUsePassword(rules, user.isOperator)) return []
  return [user.hasPassword ? steps.resetLink : steps.firstLink]
}

const stepsFor = (rules: SignInRules, user: InspectedUser): readonly StepLink[] => [
  ...(user.suspendedAt === null ? [] : [steps.confirm]),
  ...passwordSteps(rules, user),
  ...(hasFactors(user) ? [steps.factors] : []),
  steps.end,
  user.isOperator ? steps.withdraw : steps.make,
  ...(user.status === 'active' ? [steps.disable] : []),
]

const showEdit = async (visit: Visit, { id }: Id): Promise<Response> => {
  const user = await inspectUser(visit.door.platform, id)
  return page(
    <DeskPage
      title="Change name or address"
      belongsTo={user.email}
      crumbs={[{ href: userPath(user.id), name: user.name, avatarId: user.id }]}
      visit={visit}
      tab={deskPaths.users}
    >
      <Form action={userPath(user.id, 'rename')} visit={visit} class="measure">
        <Field
          label="Name"
          name="name"
          hint="Other people see this name."
          input={{ value: user.name, required: true, maxLength: 200, autocomplete: 'off' }}
        />
        <button type="submit">Save the name</button>
      </Form>
      <Form action={userPath(user.id, 'set-email')} visit={visit} class="measure" asks={proveFirst(visit)}>
        <Field
          label="Email address"
          name="to"
          hint="The user signs in with it. Their sessions and password stay."
          input={{ type: 'email', value: user.email, required: true, maxLength: 254, autocomplete: 'off' }}
        />
        <button type="submit">Save the address</button>
      </Form>
    </DeskPage>,
  )
}
