import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { searchUsers, type UserSummary } from '../../operations/users/find-user.ts'
import { Badge } from '../design/badge.tsx'
import { SearchForm } from '../design/list-tools.tsx'
import { Older, Table } from '../design/table.tsx'
import { Time } from '../design/values.tsx'
import { page } from '../page.ts'
import { parameterOf, readList } from '../query.ts'
import { requireOperator } from '../visit.ts'
import { DeskPage, deskPaths, userPath } from './desk-page.tsx'

/** Every user, with a search. */
export const deskUsersRoutes = (door: Door) =>
  new Elysia().get(deskPaths.users, async ({ request }) => {
    const visit = await requireOperator(door, request)
    const part = parameterOf(visit, 'q')
    const place = { list: 'desk-users', path: deskPaths.users, query: { q: part } }
    const { rows, olderHref } = await readList(visit, place, (window) => searchUsers(door.platform, part, window))
    return page(
      <DeskPage title="Users" visit={visit} tab={deskPaths.users}>
        <p>
          <a href={deskPaths.newUser} class="button">
            Create a user
          </a>
        </p>
        <SearchForm path={deskPaths.users} label="Name or email address" value={part} />
        <Table
          label="Users"
          rows={rows}
          columns={{
            'Email address': ({ id, email }) => (
              <a href={userPath(id)}>
                <bdi>{email}</bdi>
              </a>
            ),
            Name: ({ name }) => <bdi>{name}</bdi>,
            Status: (user) => <UserBadges user={user} />,
            Created: ({ createdAt }) => <Time at={createdAt} />,
          }}
          empty={olderHref === null ? 'No user has this in their name or address.' : 'No match so far.'}
        />
        <Older href={olderHref} name={rows.length === 0 ? 'Continue the search' : 'More users'} />
      </DeskPage>,
    )
  })

type UserBadgesProps = { readonly user: Pick<UserSummary, 'status' | 'isOperator' | 'passwordSuspendedAt'> }

export const UserBadges = ({ user }: UserBadgesProps) => (
  <>
    <Badge tone={user.status === 'active' ? 'good' : 'bad'}>{user.status === 'active' ? 'Active' : 'Disabled'}</Badge>{' '}
    {user.isOperator ? <Badge>Operator</Badge> : null}{' '}
    {user.passwordSuspendedAt === null ? null : <Badge tone="bad">Password suspended</Badge>}
  </>
)
