import type { TProperties } from '@sinclair/typebox'
import {
  countUsers,
  type InspectedUser,
  inspectUser,
  searchUsers,
  type UserSummary,
} from '../../operations/users/find-user.ts'
import { Avatar } from '../design/avatar.tsx'
import { AppStatusBadge, Badge } from '../design/badge.tsx'
import { FilterBar } from '../design/list-tools.tsx'
import { ListRows, Row, RowList } from '../design/row-list.tsx'
import { page, seeOther } from '../page.ts'
import { choice, list, listRoutes, order, search, timeOrders } from '../list.ts'
import type { Visit } from '../visit.ts'
import { deskAppPath, deskForm, DeskPage, deskPaths, userPath } from './desk-page.tsx'
import { inviteUser } from '../../operations/users/passwords.ts'
import { email, Fields, line } from '../design/field.tsx'
import { Details, Facts, ShownOnce, Time } from '../design/values.tsx'
import { emptyForm, formOf, type FormShape, type Submission } from '../form.ts'
import { secretPage, showOnce } from '../secret-page.tsx'
import { changed, pageFor, routes } from '../change.tsx'
import { builderPage, mayUsePassword, type SignInRules } from '../../domain/sign-in-rules.ts'
import { lostMailSentence } from '../../domain/mail.ts'
import { renameUser, setUserEmail } from '../../operations/users/users.ts'
import { setUserStatus } from '../../operations/users/set-user-status.ts'
import { ButtonForm, Form, LinkButton, SmallLink } from '../design/form.tsx'
import { type Effect, proveFirst } from '../proof.ts'
import { noticesOf, StepLinks, stepRoutes } from '../step.tsx'
import { deskAudit } from './audit.tsx'
import { counted } from '../words.ts'
import { hasFactors, userSteps } from './user-steps.tsx'

const deskUsers = list('desk-users', deskPaths.users, {
  q: search('Name, email address or ID in the builder'),
  status: choice('Status', [
    ['active', 'Active'],
    ['disabled', 'Disabled'],
  ]),
  role: choice('Rights', [['operator', 'Operators']], 'Everybody'),
  sort: order([['email', 'Email address'], ...timeOrders]),
})

const showUsers = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = deskUsers.read(visit)
  const { q: part, status, role, sort } = asked.values
  const question = { part, status, operators: role !== null }
  const users = await asked.rows((window) => searchUsers(platform, question, sort, window))
  return page(
    <DeskPage title="Users" visit={visit} tab={deskPaths.users} add={[deskPaths.newUser, 'Invite a user']}>
      <FilterBar of={asked} />
      <ListRows
        label="Users"
        of={users}
        row={(user) => <UserRow user={user} isOneself={user.id === visit.userId} />}
        total={await countUsers(platform, question)}
      />
    </DeskPage>,
  )
}

const UserRow = ({ user, isOneself }: { readonly user: UserSummary; readonly isOneself: boolean }) => (
  <Row
    href={userPath(user.id)}
    avatar={<Avatar id={user.id} name={user.name} />}
    title={<bdi>{user.name}</bdi>}
    facts={[<bdi>{user.email}</bdi>]}
    badge={<UserBadges user={user} />}
    actions={
      isOneself || user.status !== 'active' ? undefined : (
        <SmallLink href={userPath(user.id, 'disable')}>
          Disable
          <span class="unseen">
            {' '}
            {user.name}, {user.email}
          </span>
        </SmallLink>
      )
    }
    time={['Created', user.createdAt]}
  />
)

type UserBadgesProps = { readonly user: Pick<UserSummary, 'status' | 'isOperator' | 'suspendedAt'> }

const UserBadges = ({ user }: UserBadgesProps) => (
  <>
    <Badge tone={user.status === 'active' ? 'good' : 'bad'}>{user.status === 'active' ? 'Active' : 'Disabled'}</Badge>{' '}
    {user.isOperator ? <Badge>Operator</Badge> : null}{' '}
    {user.suspendedAt === null ? null : <Badge tone="bad">Suspended</Badge>}
  </>
)

/** Every user, with a search; the form that invites one, and the page that shows a link once. */
export const deskUsersRoutes = routes(() => [
  listRoutes(deskUsers, { by: 'operator', show: showUsers }),
  pageFor('operator', '/desk/users/:id/new-link', async (visit, { id }) => {
    const user = await inspectUser(visit.door.platform, id)
    return secretPage(visit, (link) => <NewLinkPage visit={visit} user={user} link={link} />)
  }),
  deskForm(deskPaths.newUser, {
    title: 'Invite a user',
    tab: deskPaths.users,
    effect: 'gives a way to sign in',
    form: formOf({
      email: email('Email address', { hint: 'The user signs in with it. You can change it later.' }),
      name: line('Name', { hint: 'Other people see this name.' }),
    }),
    more: (visit) => (
      <p class="muted">
        The next page shows a link that lets the user set a password
        {visit.door.platform.mailer === null ? '' : ', and they also receive one by email'}. You can grant operator
        rights on the page of the user.
      </p>
    ),
    button: 'Create the invitation',
    act: async ({ visit, fields, ticket }) => {
      const input = { email: fields.email, name: fields.name, isOperator: false }
      const { user, link } = await visit.asOperator({ ticket }).do(inviteUser, input)
      return showOnce(visit, userPath(user.id, 'new-link'), link)
    },
    again: () => ({ section: 'desk', href: deskPaths.users, name: 'Go to the users', message: invitedBefore }),
  }),
])

const invitedBefore =
  'This form was sent before. Nothing was done a second time. If the user was created, they are in the list. A link is shown only once: if you did not see it, open the user and create a reset link.'

type NewLinkPageProps = {
  readonly visit: Visit
  readonly user: Pick<UserSummary, 'id' | 'email' | 'name'>
  /** Null when it was shown before. */
  readonly link: string | null
}

/** The only page that shows a link to set a password. */
const NewLinkPage = ({ visit, user, link }: NewLinkPageProps) => (
  <DeskPage
    title="Link to set a password"
    belongsTo={user.email}
    crumbs={[{ href: userPath(user.id), name: user.name, avatarId: user.id }]}
    visit={visit}
    tab={deskPaths.users}
  >
    <ShownOnce
      value={link}
      what="link"
      label="Link"
      advice="create another one on the page of the user"
      back={{ href: userPath(user.id), name: 'the user' }}
    >
      <p>
        Send this link to <bdi>{user.name}</bdi> over a channel that you trust. It lets them set a password and then
        sign in with {user.email}. It works once, for 24 hours.
      </p>
      {visit.door.platform.mailer === null ? null : (
        <p>An email with another link is also on its way to {user.email}. Both links work until one of them is used.</p>
      )}
    </ShownOnce>
  </DeskPage>
)

const notices = {
  renamed: 'The user has the new name.',
  email: 'The user signs in with the new address from now on.',
  enable: 'The user is enabled and can sign in again. Suspended apps stay suspended.',
  ...noticesOf(...userSteps),
} as const

const userPattern = '/desk/users/:id'
const nameForm = formOf({ name: line('Name', { hint: 'Other people see this name.' }) })
const emailForm = formOf({
  to: email('Email address', { hint: 'The user signs in with it. Their sessions and password stay.' }),
})

/** One user, and what can be changed about them. `user-steps.tsx` has what asks first. */
export const deskUserRoutes = routes(() => [
  stepRoutes(...userSteps),
  pageFor('operator', userPattern, show),
  pageFor('operator', `${userPattern}/edit`, showEdit),
  change('enable', 'gives a right', emptyForm, show, async ({ visit }, userId) => {
    await visit.asOperator().do(setUserStatus, { userId, status: 'active' })
    return 'enable'
  }),
  change('rename', 'renames', nameForm, showEdit, async ({ visit, fields: { name } }, userId) => {
    await visit.asOperator().do(renameUser, { userId, name })
    return 'renamed'
  }),
  change('set-email', 'gives a way to sign in', emailForm, showEdit, async ({ visit, fields: { to } }, userId) => {
    await visit.asOperator().do(setUserEmail, { userId, to })
    return 'email'
  }),
])

/** The address of a form about a user. It answers which of the sentences of their page is shown then. */
const change = <T extends TProperties>(
  step: 'enable' | 'rename' | 'set-email',
  effect: Effect,
  form: FormShape<T>,
  page: typeof show,
  act: (submission: Submission<T>, userId: string) => Promise<keyof typeof notices>,
) =>
  changed(`${userPattern}/${step}`, {
    by: 'operator',
    effect,
    form,
    show: page,
    act: async (submission, { id }) => seeOther(`${userPath(id)}?done=${await act(submission, id)}`),
  })

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
      actions={<LinkButton href={userPath(id, 'edit')}>Change name or address</LinkButton>}
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
      {user.lastMailFault === null ? null : <p class="notice">{lostMailSentence(user.lastMailFault)}</p>}
      <UserFacts user={user} ways={waysOf(visit.door.platform.signIn, user)} />
      <OwnApps user={user} mostApps={visit.door.platform.quotas.apps} />
      <h2>Access and rights</h2>
      {isOneself ? (
        <p class="muted">
          This is you. Only another operator can disable you or remove your operator rights.
          {visit.session.user.hasPassword ? (
            <>
              {' '}
              To change your password, go to <a href="/account/password">Account, Password</a>, which asks for the
              current one.
            </>
          ) : null}
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
          <StepLinks visit={visit} steps={userSteps} of={user} params={{ id }} />
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
        <SmallLink href={`${deskPaths.newApp}?${new URLSearchParams({ owner: user.email }).toString()}`}>
          Create an app for this user
        </SmallLink>
      </p>
    ) : null}
  </section>
)

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
        <Fields of={nameForm} values={{ name: user.name }} />
        <button type="submit">Save the name</button>
      </Form>
      <Form action={userPath(user.id, 'set-email')} visit={visit} class="measure" asks={proveFirst(visit)}>
        <Fields of={emailForm} values={{ to: user.email }} />
        <button type="submit">Save the address</button>
      </Form>
    </DeskPage>,
  )
}
