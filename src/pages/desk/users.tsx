import type { Door } from '../../http/door.ts'
import { countUsers, searchUsers, type UserSummary } from '../../operations/users/find-user.ts'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { page } from '../page.ts'
import { choice, list, listRoutes, order, search, timeOrders } from '../list.ts'
import type { Visit } from '../visit.ts'
import { DeskPage, deskPaths, userPath } from './desk-page.tsx'

const deskUsers = list('desk-users', deskPaths.users, {
  q: search('Name, email address or ID in the builder'),
  status: choice('Status', [
    ['active', 'Active'],
    ['disabled', 'Disabled'],
  ]),
  role: choice('Rights', [['operator', 'Operators']], 'Everybody'),
  sort: order([['email', 'Email address'], ...timeOrders]),
})

/** Every user, with a search. */
export const deskUsersRoutes = (door: Door) => listRoutes(door, deskUsers, { by: 'operator', show })

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const asked = deskUsers.read(visit)
  const { q: part, status, role, sort } = asked.values
  const question = { part, status, operators: role !== null }
  const users = await asked.rows((window) => searchUsers(platform, question, sort, window))
  return page(
    <DeskPage
      title="Users"
      visit={visit}
      tab={deskPaths.users}
      actions={
        <a href={deskPaths.newUser} class="button primary">
          Invite a user
        </a>
      }
    >
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
