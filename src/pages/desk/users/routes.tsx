import { Elysia } from 'elysia'
import { Type } from '@sinclair/typebox'
import type { PlatformError } from '../../../domain/errors.ts'
import { generatedPassword, generatedPasswordBytes } from '../../../domain/password.ts'
import type { Door } from '../../../http/door.ts'
import { createUser } from '../../../operations/users/create-user.ts'
import { inspectUser, searchUsers } from '../../../operations/users/find-user.ts'
import { isForSomebodyElse, resetPassword } from '../../../operations/users/passwords.ts'
import type { AppsChoice } from '../../../operations/users/set-user-status.ts'
import { formFields, forms } from '../../old-forms.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { operatorOnly, visitOf } from '../../visit.ts'
import { changeBy, changeOnceBy } from '../operator.ts'
import { deskPaths, userPath } from '../paths.ts'
import { queryOf } from '../query.ts'
import { AlreadyCreatedPage } from './already-created-page.tsx'
import { DisabledPage } from './disabled-page.tsx'
import { NewPasswordPage } from './new-password-page.tsx'
import { NewUserPage, type NewUserValues } from './new-user-page.tsx'
import { disableUser, takeUserStep, type UserStep } from './take-user-step.ts'
import { UserPage } from './user-page.tsx'
import { UsersPage } from './users-page.tsx'

const notices = {
  created: 'The user is created and can sign in.',
  enable: 'The user is enabled and can sign in again. Apps that are suspended stay suspended.',
  'make-operator': 'The user is an operator now.',
  'withdraw-operator': 'The user is no operator any more.',
} as const satisfies Record<UserStep | 'created', string>

const listed = 'desk-users'
const userPattern = '/desk/users/:id'
const noFields = { body: formFields({}) }
const nothing: NewUserValues = { email: '', name: '', isOperator: false }

/** People: who they are, whether they can sign in, and who else is an operator. */
export const userRoutes = (door: Door) =>
  new Elysia().use(userPages(door)).use(creation(door)).use(disabling(door)).use(changes(door))

const userPages = (door: Door) =>
  new Elysia()
    .use(operatorOnly(door))
    .get(deskPaths.users, async ({ request }) => {
      const part = queryOf(request, 'q')
      const { data, nextCursor } = await searchUsers(door.platform, part, listingOf(listed, request))
      const moreHref = olderPath(deskPaths.users, listed, nextCursor, part === '' ? {} : { q: part })
      return page(<UsersPage visit={visitOf(request)} part={part} users={data} moreHref={moreHref} />)
    })
    .get(deskPaths.newUser, async ({ request }) => showForm(request, nothing, null))
    .get(userPattern, async ({ request, params: { id } }) => await showUser(door, request, id, null))

const creation = (door: Door) =>
  new Elysia()
    .use(operatorOnly(door))
    .use(forms(door, { lists: ['operator'] }))
    .post(
      deskPaths.newUser,
      async ({ request, body: { email, name, password, operator } }) =>
        await create(door, request, { email, name, isOperator: operator.includes('yes') }, password),
      {
        body: formFields({
          email: Type.String(),
          name: Type.String(),
          password: Type.String(),
          operator: Type.Array(Type.String()),
        }),
      },
    )

const showForm = (request: Request, values: NewUserValues, error: PlatformError | null): Response =>
  page(<NewUserPage visit={visitOf(request)} values={values} error={error} />, { refusal: error })

/** A password that was made here is shown on the answer itself, once; one that was typed is known already. */
const create = async (door: Door, request: Request, values: NewUserValues, typed: string): Promise<Response> => {
  const { platform, trace, actor } = changeOnceBy(door, request)
  const visit = visitOf(request)
  const password = typed === '' ? generatedPassword(platform.random.bytes(generatedPasswordBytes)) : typed
  const outcome = await outcomeOf(createUser(platform, trace, actor, { ...values, password }))
  if (outcome.kind === 'done') {
    const user = outcome.value
    return typed === ''
      ? page(<NewPasswordPage visit={visit} title="The user is created" user={user} password={password} />)
      : seeOther(`${userPath(user.id)}?done=created`)
  }
  return outcome.error.code === 'idempotency_key_reused'
    ? page(<AlreadyCreatedPage visit={visit} />, { refusal: outcome.error })
    : showForm(request, values, outcome.error)
}

const disabling = (door: Door) =>
  new Elysia()
    .use(operatorOnly(door))
    .use(forms(door, { lists: ['apps', 'to'] }))
    .post(
      `${userPattern}/disable`,
      async ({ request, params: { id }, body: { apps, to } }) =>
        await disable(door, request, id, choiceOf(apps[0] ?? 'suspend', to[0] ?? '')),
      { body: formFields({ apps: Type.Array(Type.String()), to: Type.Array(Type.String()) }) },
    )

/** What the form has chosen; anything unknown is the default, which takes most away. */
const choiceOf = (apps: string, email: string): AppsChoice => {
  if (apps === 'transfer') return { kind: 'transfer', email }
  return { kind: apps === 'keep' ? 'keep' : 'suspend' }
}

/** The answer itself says what ended: it is told only once. */
const disable = async (door: Door, request: Request, id: string, choice: AppsChoice): Promise<Response> => {
  const outcome = await outcomeOf(disableUser(door, request, id, choice))
  return outcome.kind === 'done'
    ? page(<DisabledPage visit={visitOf(request)} disabled={outcome.value} />)
    : await showUser(door, request, id, outcome.error)
}

const changes = (door: Door) =>
  new Elysia()
    .use(operatorOnly(door))
    .use(forms(door))
    .post(
      `${userPattern}/enable`,
      async ({ request, params: { id } }) => await step(door, request, id, 'enable'),
      noFields,
    )
    .post(
      `${userPattern}/make-operator`,
      async ({ request, params: { id } }) => await step(door, request, id, 'make-operator'),
      noFields,
    )
    .post(
      `${userPattern}/withdraw-operator`,
      async ({ request, params: { id } }) => await step(door, request, id, 'withdraw-operator'),
      noFields,
    )
    .post(
      `${userPattern}/password`,
      async ({ request, params: { id } }) => await givePassword(door, request, id),
      noFields,
    )

const step = async (door: Door, request: Request, id: string, name: UserStep): Promise<Response> => {
  const outcome = await outcomeOf(takeUserStep(door, request, id, name))
  return outcome.kind === 'done'
    ? seeOther(`${userPath(id)}?done=${name}`)
    : await showUser(door, request, id, outcome.error)
}

/** Pressed twice, one wins; its page alone shows a password. */
const givePassword = async (door: Door, request: Request, id: string): Promise<Response> => {
  await inspectUser(door.platform, id)
  const { platform, trace, actor } = changeBy(door, request, (operatorId) => isForSomebodyElse(operatorId, id))
  const password = generatedPassword(platform.random.bytes(generatedPasswordBytes))
  const outcome = await outcomeOf(resetPassword(platform, trace, actor, { userId: id, password }))
  if (outcome.kind === 'refused') return await showUser(door, request, id, outcome.error)
  const title = 'The user has a new password'
  return page(<NewPasswordPage visit={visitOf(request)} title={title} user={outcome.value.user} password={password} />)
}

const showUser = async (door: Door, request: Request, id: string, error: PlatformError | null): Promise<Response> => {
  const user = await inspectUser(door.platform, id)
  const notice = noticeOf(door, request, notices)
  return page(<UserPage visit={visitOf(request)} user={user} notice={notice} error={error} />, { refusal: error })
}
