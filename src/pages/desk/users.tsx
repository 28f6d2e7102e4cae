import { Elysia } from 'elysia'
import type { UserStatus } from '../../domain/user.ts'
import type { Door } from '../../http/door.ts'
import { searchUsers, type UserSummary } from '../../operations/users/find-user.ts'
import { Badge } from '../components/badges.tsx'
import { SearchForm } from '../components/form.tsx'
import { Older, Table } from '../components/table.tsx'
import { Time } from '../components/values.tsx'
import { page } from '../page.ts'
import { listPart, olderPath, parameterOf } from '../query.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { DeskPage, deskPaths, userPath } from './desk-page.tsx'

/** The name in its cursors. */
const list = 'desk-users'

/** Every user, with a search. */
export const deskUsersRoutes = (door: Door) =>
  new Elysia().get(deskPaths.users, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const part = parameterOf(visit, 'q')
    const { data, nextCursor } = await searchUsers(door.platform, part, listPart(visit, list))
    const moreHref = olderPath(deskPaths.users, list, nextCursor, part === '' ? {} : { q: part })
    return page(<UsersPage visit={visit} part={part} users={data} moreHref={moreHref} />)
  })

type UsersPageProps = {
  readonly visit: Visit
  /** The text that was searched for. */
  readonly part: string
  readonly users: readonly UserSummary[]
  readonly moreHref: string | null
}

const UsersPage = ({ visit, part, users, moreHref }: UsersPageProps) => (
  <DeskPage title="Users" visit={visit} tab={deskPaths.users}>
    <p>
      <a href={deskPaths.newUser} class="button">
        Create a user
      </a>
    </p>
    <SearchForm
      path={deskPaths.users}
      name="q"
      label="Name or email address"
      value={part}
      maxLength={254}
      button="Search"
    />
    {users.length === 0 ? (
      <p class="muted">{moreHref === null ? 'No user has this in their name or address.' : 'No match so far.'}</p>
    ) : (
      <UserTable users={users} />
    )}
    <Older href={moreHref} name={users.length === 0 ? 'Continue the search' : 'More users'} />
  </DeskPage>
)

const UserTable = ({ users }: { readonly users: readonly UserSummary[] }) => (
  <Table label="Users" columns={['Email address', 'Name', 'Status', 'Created']}>
    {users.map((user) => (
      <tr key={user.id}>
        <td>
          <a href={userPath(user.id)}>
            <bdi>{user.email}</bdi>
          </a>
        </td>
        <td>
          <bdi>{user.name}</bdi>
        </td>
        <td>
          <UserBadges user={user} />
        </td>
        <td>
          <Time at={user.createdAt} />
        </td>
      </tr>
    ))}
  </Table>
)

type UserBadgesProps = {
  readonly user: {
    readonly status: UserStatus
    readonly isOperator: boolean
    readonly passwordSuspendedAt: number | null
  }
}

export const UserBadges = ({ user }: UserBadgesProps) => (
  <>
    <Badge tone={user.status === 'active' ? 'good' : 'bad'}>{user.status === 'active' ? 'Active' : 'Disabled'}</Badge>{' '}
    {user.isOperator ? <Badge>Operator</Badge> : null}{' '}
    {user.passwordSuspendedAt === null ? null : <Badge tone="bad">Password suspended</Badge>}
  </>
)
