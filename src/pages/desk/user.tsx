import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import { generatedPassword, generatedPasswordBytes } from '../../domain/password.ts'
import type { Door } from '../../http/door.ts'
import { leavesAnOperator, setOperator } from '../../operations/users/change-user.ts'
import { type InspectedUser, inspectUser } from '../../operations/users/find-user.ts'
import { isForSomebodyElse, resetPassword } from '../../operations/users/passwords.ts'
import { type AppsChoice, type DisabledUser, setUserStatus } from '../../operations/users/set-user-status.ts'
import { AppStatusBadge } from '../design/badge.tsx'
import { Problem } from '../design/field.tsx'
import { Facts, Lines, Time } from '../design/values.tsx'
import { answerForm, emptyForm, formOf, optionalText, receiveFromOperator } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { showOnce } from '../shown-once.ts'
import { requireOperator, type Visit } from '../visit.ts'
import { AppLink, auditPath, DeskPage, deskPaths, onTheDesk, userPath } from './desk-page.tsx'
import { newPasswordPath } from './new-user.tsx'
import { UserChanges } from './user-changes.tsx'
import { UserBadges } from './users.tsx'

type UserStep = 'enable' | 'make-operator' | 'withdraw-operator'

const notices = {
  created: 'The user is created and can sign in.',
  enable: 'The user is enabled and can sign in again. Suspended apps stay suspended.',
  'make-operator': 'The user is now an operator.',
  'withdraw-operator': 'The user is no longer an operator.',
} as const satisfies Record<UserStep | 'created', string>

const userPattern = '/desk/users/:id'

/** What happens to the apps of a user who is disabled, and the new owner's address. The form of a user without apps has neither. */
const disableForm = formOf({ apps: optionalText, to: optionalText })

/** One user: their rights, their password, and whether they can sign in. */
export const deskUserRoutes = (door: Door) =>
  new Elysia()
    .get(userPattern, async ({ request, params: { id } }) => await show(await requireOperator(door, request), id, null))
    .post(`${userPattern}/disable`, async ({ request, params: { id } }) => await disable(door, request, id))
    .post(`${userPattern}/enable`, async ({ request, params: { id } }) => await takeStep(door, request, id, 'enable'))
    .post(
      `${userPattern}/make-operator`,
      async ({ request, params: { id } }) => await takeStep(door, request, id, 'make-operator'),
    )
    .post(
      `${userPattern}/withdraw-operator`,
      async ({ request, params: { id } }) => await takeStep(door, request, id, 'withdraw-operator'),
    )
    .post(`${userPattern}/password`, async ({ request, params: { id } }) => await givePassword(door, request, id))

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
        <UserChanges visit={visit} user={user} error={error} />
      )}
    </DeskPage>,
    { refusal: error },
  )
}

/** An operator must remain: `leavesAnOperator` refuses to disable oneself or the last operator. */
const disable = async (door: Door, request: Request, id: string): Promise<Response> => {
  const { visit, fields } = await receiveFromOperator(door, request, disableForm)
  const { email } = await inspectUser(door.platform, id)
  const apps = appsChoice(fields.apps ?? '', fields.to ?? '')
  const change = onTheDesk(visit, leavesAnOperator(visit.userId, id))
  return await answerForm(setUserStatus(...change, { email, status: 'disabled', apps }), {
    // Not a redirect: the answer lists what ended, which is known only now.
    done: (disabled) => disabledPage(visit, disabled),
    refused: async (error) => await show(visit, id, error),
  })
}

/** What ended or stopped when a user was disabled. */
const disabledPage = (visit: Visit, { user, ended, stopped, apps }: DisabledUser): Response =>
  page(
    <DeskPage title="The user is disabled" belongsTo={user.email} visit={visit} tab={deskPaths.users}>
      <Facts
        of={{
          'Sessions ended': ended.sessions,
          'Embedded sessions ended': ended.embeddedSessions,
          'Grants stopped': `${stopped.grants}, with ${stopped.userTokens} user tokens`,
          'Apps suspended': <AppLinks slugs={apps.suspended} />,
          'App tokens stopped': stopped.appTokens,
          'Apps that keep working without an active owner': <AppLinks slugs={apps.kept} />,
          'Apps with a new owner': <AppLinks slugs={apps.transferred} />,
        }}
      />
      <p>
        If you enable the user again, grants that have not expired work again. Suspended apps stay suspended until an
        operator activates them.
      </p>
      {apps.transferred.length === 0 ? null : (
        <p>The previous owner may know the secrets of the apps with a new owner. Rotate them.</p>
      )}
      <p>
        <a href={userPath(user.id)}>Go to the user</a>
      </p>
    </DeskPage>,
  )

/** The choice in the form; anything unknown is the default, which takes the most access away. */
const appsChoice = (apps: string, email: string): AppsChoice => {
  if (apps === 'transfer') return { kind: 'transfer', email }
  return { kind: apps === 'keep' ? 'keep' : 'suspend' }
}

/** Changes somebody's rights. An operator must remain. */
const takeStep = async (door: Door, request: Request, id: string, step: UserStep): Promise<Response> => {
  const { visit } = await receiveFromOperator(door, request, emptyForm)
  const { email } = await inspectUser(door.platform, id)
  const giving = onTheDesk(visit)
  const taking = onTheDesk(visit, leavesAnOperator(visit.userId, id))
  const changes = {
    enable: () => setUserStatus(...giving, { email, status: 'active' }),
    'make-operator': () => setOperator(...giving, { userId: id, isOperator: true }),
    'withdraw-operator': () => setOperator(...taking, { userId: id, isOperator: false }),
  } as const satisfies Record<UserStep, () => Promise<unknown>>
  return await answerForm<unknown>(changes[step](), {
    done: () => seeOther(`${userPath(id)}?done=${step}`),
    refused: async (error) => await show(visit, id, error),
  })
}

/** If the button is pressed twice, one request wins, and only its redirect leads to a password. */
const givePassword = async (door: Door, request: Request, id: string): Promise<Response> => {
  const { visit } = await receiveFromOperator(door, request, emptyForm)
  await inspectUser(door.platform, id)
  const password = generatedPassword(door.platform.random.bytes(generatedPasswordBytes))
  const change = onTheDesk(visit, isForSomebodyElse(visit.userId, id))
  return await answerForm(resetPassword(...change, { userId: id, password }), {
    done: () => showOnce(visit, newPasswordPath(id), password),
    refused: async (error) => await show(visit, id, error),
  })
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

const AppLinks = ({ slugs }: { readonly slugs: readonly string[] }) =>
  slugs.length === 0 ? (
    <>None</>
  ) : (
    <Lines
      of={slugs.map((slug) => (
        <AppLink slug={slug} />
      ))}
    />
  )
