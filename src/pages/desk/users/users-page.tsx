import type { UserSummary } from '../../../operations/users/find-user.ts'
import { Older, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import type { Visit } from '../../visit.ts'
import { DeskPage } from '../desk-page.tsx'
import { deskPaths, userPath } from '../paths.ts'
import { SearchForm } from '../../components/form.tsx'
import { UserMarks } from './user-marks.tsx'

type UsersPageProps = {
  readonly visit: Visit
  readonly part: string
  readonly users: readonly UserSummary[]
  readonly moreHref: string | null
}

export const UsersPage = ({ visit, part, users, moreHref }: UsersPageProps) => (
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
      <p class="muted">
        {moreHref === null ? 'Nobody has this in their name or address.' : 'Nobody found among the first ones.'}
      </p>
    ) : (
      <UserTable users={users} />
    )}
    <Older href={moreHref} name={users.length === 0 ? 'Search on' : 'More users'} />
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
          <UserMarks user={user} />
        </td>
        <td>
          <Time at={user.createdAt} />
        </td>
      </tr>
    ))}
  </Table>
)
