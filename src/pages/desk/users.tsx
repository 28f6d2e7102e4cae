import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { countUsers, searchUsers, type UserSummary } from '../../operations/users/find-user.ts'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { FilterBar, noMatch, Pager } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { page } from '../page.ts'
import { choiceParameter, keysOf, parameterOf, readList, sortOf, timeOrders } from '../query.ts'
import { requireOperator } from '../visit.ts'
import { DeskPage, deskPaths, userPath } from './desk-page.tsx'

const statuses = [
  ['active', 'Active'],
  ['disabled', 'Disabled'],
] as const
const roles = [['operator', 'Operators']] as const
const orders = [['email', 'Email address'], ...timeOrders] as const

/** Every user, with a search. */
export const deskUsersRoutes = (door: Door) =>
  new Elysia().get(deskPaths.users, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const path = deskPaths.users
    const status = choiceParameter(request, 'status', keysOf(statuses))
    const role = choiceParameter(request, 'role', keysOf(roles))
    const { order, sort } = sortOf(request, orders, 'email')
    const question = { part: parameterOf(visit, 'q'), status, operators: role !== null }
    const query = { q: question.part, status: status ?? '', role: role ?? '', sort }
    const users = await readList(visit, { list: `desk-users-${order}`, path, query }, (window) =>
      searchUsers(door.platform, question, order, window),
    )
    const total = await countUsers(door.platform, question)
    return page(
      <DeskPage
        title="Users"
        visit={visit}
        tab={path}
        actions={
          <a href={deskPaths.newUser} class="button primary">
            Invite a user
          </a>
        }
      >
        <FilterBar
          path={path}
          fields={[
            { kind: 'search', name: 'q', label: 'Name, email address or ID in the builder', value: question.part },
            { kind: 'choice', name: 'status', label: 'Status', all: 'All', options: statuses, selected: status },
            { kind: 'choice', name: 'role', label: 'Rights', all: 'Everybody', options: roles, selected: role },
            { kind: 'choice', name: 'sort', label: 'Order', options: orders, selected: order, usual: 'email' },
          ]}
        />
        <RowList
          label="Users"
          rows={users.rows}
          row={(user) => <UserRow user={user} />}
          empty={noMatch(users, true, null)}
        />
        <Pager {...users} shown={users.rows.length} total={total} />
      </DeskPage>,
    )
  })

const UserRow = ({ user }: { readonly user: UserSummary }) => (
  <Row
    href={userPath(user.id)}
    avatar={<Avatar id={user.id} name={user.name} />}
    title={<bdi>{user.name}</bdi>}
    facts={[<bdi>{user.email}</bdi>]}
    badge={<UserBadges user={user} />}
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
