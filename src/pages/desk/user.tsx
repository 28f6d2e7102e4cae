import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { type InspectedUser, inspectUser } from '../../operations/users/find-user.ts'
import { setUserStatus } from '../../operations/users/set-user-status.ts'
import { AppStatusBadge } from '../design/badge.tsx'
import { Problem } from '../design/field.tsx'
import { Facts, Time } from '../design/values.tsx'
import { answerForm, emptyForm, receiveFromOperator } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { AppLink, auditPath, DeskPage, deskPaths, onTheDesk, userPath } from './desk-page.tsx'
import { UserChanges } from './user-changes.tsx'
import { UserBadges } from './users.tsx'

const notices = {
  created: 'The user is created and can sign in.',
  enable: 'The user is enabled and can sign in again. Suspended apps stay suspended.',
  disable: 'The user is disabled and signed out. The audit log has what ended.',
  'disable-transfer':
    'The user is disabled and signed out. Their apps have a new owner. The previous owner may know the secrets of these apps: ask the new owner to rotate them.',
  'make-operator': 'The user is now an operator.',
  'withdraw-operator': 'The user is no longer an operator.',
} as const

const userPattern = '/desk/users/:id'

/** One user: their rights, their password, and whether they can sign in. */
export const deskUserRoutes = (door: Door) =>
  new Elysia()
    .get(userPattern, async ({ request, params: { id } }) => await show(await requireOperator(door, request), id, null))
    .post(`${userPattern}/enable`, async ({ request, params: { id } }) => {
      const { visit } = await receiveFromOperator(door, request, emptyForm)
      const { email } = await inspectUser(door.platform, id)
      return await answerForm(setUserStatus(...onTheDesk(visit), { email, status: 'active' }), {
        done: () => seeOther(`${userPath(id)}?done=enable`),
        refused: async (error) => await show(visit, id, error),
      })
    })

const show = async (visit: Visit, id: string, error: PlatformError | null): Promise<Response> => {
  const user = await inspectUser(visit.door.platform, id)
  return page(
    <DeskPage title={user.name} belongsTo={user.email} visit={visit} tab={deskPaths.users} notices={notices}>
      <Problem error={error} />
      <UserFacts user={user} />
      {user.id === visit.userId ? (
        <p class="muted">
          This is you. Only another operator can disable you or remove your operator rights. To change your password, go
          to <a href="/account/password">Account, Password</a>, which asks for the current one.
        </p>
      ) : (
        <UserChanges visit={visit} user={user} />
      )}
    </DeskPage>,
    { refusal: error },
  )
}

const UserFacts = ({ user }: { readonly user: InspectedUser }) => (
  <Facts
    of={{
      'Email address': user.email,
      Status: <UserBadges user={user} />,
      Password: user.passwordSuspendedAt && (
        <>
          Suspended since <Time at={user.passwordSuspendedAt} /> because data was lost. An operator can confirm it on
          the command line: <code>app-platform user confirm-password {user.email}</code>
        </>
      ),
      Created: <Time at={user.createdAt} />,
      'Own apps': user.apps.length === 0 ? 'None' : user.apps.map((app) => <OwnApp app={app} />),
      ID: <code>{user.id}</code>,
      Events: <a href={auditPath({ actor: user.id })}>User audit log</a>,
    }}
  />
)

const OwnApp = ({ app: { slug, status } }: { readonly app: InspectedUser['apps'][number] }) => (
  <div>
    <AppLink slug={slug} /> {status === 'active' ? null : <AppStatusBadge status={status} />}
  </div>
)
