import { countUsers, inspectUser, searchUsers, type UserSummary } from '../../operations/users/find-user.ts'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { page } from '../page.ts'
import { choice, list, listRoutes, order, search, timeOrders } from '../list.ts'
import type { Visit } from '../visit.ts'
import { deskForm, DeskPage, deskPaths, userPath } from './desk-page.tsx'
import { inviteUser } from '../../operations/users/passwords.ts'
import { email, line } from '../design/field.tsx'
import { ShownOnce } from '../design/values.tsx'
import { formOf } from '../form.ts'
import { secretPage, showOnce } from '../secret-page.tsx'
import { pageFor, routes } from '../change.tsx'

const deskUsers = list('desk-users', deskPaths.users, {
  q: search('Name, email address or ID in the builder'),
  status: choice('Status', [
    ['active', 'Active'],
    ['disabled', 'Disabled'],
  ]),
  role: choice('Rights', [['operator', 'Operators']], 'Everybody'),
  sort: order([['email', 'Email address'], ...timeOrders]),
})

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = deskUsers.read(visit)
  const { q: part, status, role, sort } = asked.values
  const question = { part, status, operators: role !== null }
  const users = await asked.rows((window) => searchUsers(platform, question, sort, window))
  return page(
    <DeskPage title="Users" visit={visit} tab={deskPaths.users} add={[deskPaths.newUser, 'Invite a user']}>
      <FilterBar of={asked} />
      <RowList
        label="Users"
        rows={users.rows}
        row={(user) => <UserRow user={user} isOneself={user.id === visit.userId} />}
        empty={noMatch(users)}
      />
      <Pager of={users} total={await countUsers(platform, question)} />
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
        <a class="button small" href={userPath(user.id, 'disable')}>
          Disable
          <span class="unseen">
            {' '}
            {user.name}, {user.email}
          </span>
        </a>
      )
    }
    time={['Created', user.createdAt]}
  />
)

type UserBadgesProps = { readonly user: Pick<UserSummary, 'status' | 'isOperator' | 'suspendedAt'> }

export const UserBadges = ({ user }: UserBadgesProps) => (
  <>
    <Badge tone={user.status === 'active' ? 'good' : 'bad'}>{user.status === 'active' ? 'Active' : 'Disabled'}</Badge>{' '}
    {user.isOperator ? <Badge>Operator</Badge> : null}{' '}
    {user.suspendedAt === null ? null : <Badge tone="bad">Suspended</Badge>}
  </>
)

/** Every user, with a search; the form that invites one, and the page that shows a link once. */
export const deskUsersRoutes = routes(() => [
  listRoutes(deskUsers, { by: 'operator', show }),
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
      return showOnce(visit, newLinkPath(user.id), link)
    },
    again: () => ({ section: 'desk', href: deskPaths.users, name: 'Go to the users', message: invitedBefore }),
  }),
])

const invitedBefore =
  'This form was sent before. Nothing was done a second time. If the user was created, they are in the list. A link is shown only once: if you did not see it, open the user and create a reset link.'

/** Where a new link of this user is shown. */
export const newLinkPath = (userId: string): string => userPath(userId, 'new-link')

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
