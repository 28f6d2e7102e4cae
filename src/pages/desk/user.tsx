import { Elysia } from 'elysia'
import type { ComponentChildren } from 'preact'
import type { PlatformError } from '../../domain/errors.ts'
import type { Door } from '../../http/door.ts'
import { type InspectedUser, inspectUser } from '../../operations/users/find-user.ts'
import { setUserStatus } from '../../operations/users/set-user-status.ts'
import { AppStatusBadge } from '../design/badge.tsx'
import { ButtonForm, Problem } from '../design/field.tsx'
import { Facts, Time } from '../design/values.tsx'
import { answerForm, emptyForm, receiveFromOperator } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { AppLink, auditPath, DeskPage, deskPaths, onTheDesk, userPath } from './desk-page.tsx'
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

type UserChangesProps = { readonly visit: Visit; readonly user: InspectedUser }

/** What an operator can change about somebody else. What ends something, or gives rights, is confirmed first. */
const UserChanges = ({ visit, user }: UserChangesProps) => (
  <div class="cards">
    {user.status === 'active' ? (
      <Change user={user} step="disable" title="Disable this user" button="Disable">
        Their sessions end at once, and apps can no longer act for them. Nothing is deleted.
      </Change>
    ) : (
      <article>
        <h2>Enable this user</h2>
        <p>
          They can sign in again, and the access that they gave to apps works again unless it has expired. Their
          suspended apps stay suspended.
        </p>
        <ButtonForm action={userPath(user.id, 'enable')} visit={visit} look="outline small">
          Enable
        </ButtonForm>
      </article>
    )}
    <Change user={user} step="password" title="New password" button="Generate a new password">
      The old password stops working, and their sessions end at once.
    </Change>
    {user.isOperator ? (
      <Change user={user} step="withdraw-operator" title="Operator" button="Remove operator rights">
        Operators can do everything that you can do here.
      </Change>
    ) : (
      <Change user={user} step="make-operator" title="Operator" button="Make them an operator">
        They will be able to do everything that you can do here.
      </Change>
    )}
  </div>
)

type ChangeProps = Pick<UserChangesProps, 'user'> & {
  readonly step: 'disable' | 'password' | 'make-operator' | 'withdraw-operator'
  readonly title: string
  readonly button: string
  readonly children: ComponentChildren
}

const Change = ({ user, step, title, button, children }: ChangeProps) => (
  <article>
    <h2>{title}</h2>
    <p>{children}</p>
    <a class="button outline small" href={userPath(user.id, step)}>
      {button}
    </a>
  </article>
)
