import { afterEach, beforeEach, expect, test } from 'bun:test'
import { actingAs, isOperator } from '../../src/operations/acting-as.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { signIn } from '../support/sign-in.ts'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import { leavesAnOperator, setOperator } from '../../src/operations/users/users.ts'
import { inviteUser } from '../../src/operations/users/passwords.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { auditEvents } from '../support/audit-events.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addUser, type Login } from '../support/world.ts'

let platform: Platform
let one: Login
let other: Login
beforeEach(async () => {
  platform = await openAsOperator(`${temporaryFolder()}/app-platform.db`)
  one = await addUser(platform, 'One')
  other = await addUser(platform, 'Other')
  for (const { id } of [one, other]) await setOperator(platform, trace, operator, { userId: id, isOperator: true })
})
afterEach(async () => await platform.database.close())

const sessionOf = async (login: Login) => {
  const session = await authenticateSession(platform, (await signIn(platform, trace, login)).sessionToken)
  if (session === null) throw new Error('the session does not live')
  return session
}
/** The platform as this operator uses it on the desk to withdraw the rights of that user. */
const deskOf = async (login: Login, from: Login): Promise<Platform> =>
  actingAs(platform, trace, await sessionOf(login), {
    may: async (q) => (await isOperator(q, login.id)) ?? (await leavesAnOperator(from.id)(q, login.id)),
  })
const disable = async (desk: Platform, { email }: Login) =>
  await setUserStatus(desk, trace, operator, { email, status: 'disabled' })
const withdraw = async (desk: Platform, { id }: Login) =>
  await setOperator(desk, trace, operator, { userId: id, isOperator: false })
const userOf = async ({ id }: Login) => await platform.database.queries.users.byId(id)
const actions = async () => (await auditEvents(platform)).map(({ action }) => action)

test('the last operator who can sign in cannot be disabled, and nothing of theirs ends', async () => {
  await disable(platform, other)
  await signIn(platform, trace, one)
  await expect(disable(platform, one)).rejects.toMatchObject({
    message: 'This is the last operator who can sign in: make somebody else an operator first.',
  })
  expect((await userOf(one))?.status).toBe('active')
  await sessionOf(one)
  expect((await disable(platform, other)).user.status).toBe('disabled') // already disabled
})

test('operator rights are granted and withdrawn once, each with an event', async () => {
  const before = (await actions()).length
  const third = await addUser(platform, 'Third')
  for (const isOperator of [true, true, false, false]) {
    const user = await setOperator(platform, trace, operator, { userId: third.id, isOperator })
    expect([user.isOperator, (await userOf(third))?.isOperator]).toEqual([isOperator, isOperator])
  }
  expect((await actions()).slice(before)).toEqual(['user.created', 'user.operator_granted', 'user.operator_withdrawn'])
  await expect(setOperator(platform, trace, operator, { userId: 'usr_0', isOperator: true })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})

test('an operator can withdraw the rights of another operator, but not their own', async () => {
  for (const step of [disable, withdraw]) {
    await expect(step(await deskOf(one, one), one)).rejects.toThrow('your own operator rights')
    expect(await userOf(one)).toMatchObject({ status: 'active', isOperator: true })
  }
  await withdraw(await deskOf(one, other), other)
  expect((await userOf(other))?.isOperator).toBe(false)
  await disable(await deskOf(one, other), other)
  expect((await userOf(other))?.status).toBe('disabled')
})

test('of two operators who disable each other at once one stays active', async () => {
  const desks = [await deskOf(one, other), await deskOf(other, one)] as const
  const answers = await Promise.allSettled([disable(desks[0], other), disable(desks[1], one)])
  expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await platform.database.queries.users.activeOperators(10)).toHaveLength(1)
})

test('the last operator who can sign in keeps their rights, no matter who asks', async () => {
  await setUserStatus(platform, trace, operator, { email: other.email, status: 'disabled' })
  await addUser(platform, 'Nobody Special') // who can sign in, and is no operator
  const invited = { email: 'invited@example.com', name: 'Invited', isOperator: true }
  await inviteUser(platform, trace, operator, invited) // who cannot sign in before the link is used
  const fault = await platform.database.transaction((q) => leavesAnOperator(one.id)(q, 'usr_somebody'))
  expect(fault?.message).toContain('the last operator')
  expect(await platform.database.transaction((q) => leavesAnOperator(other.id)(q, one.id))).toBeNull()
})

test('a former operator can do nothing on the desk, even in a live session', async () => {
  const desk = await deskOf(other, one)
  await setOperator(platform, trace, operator, { userId: other.id, isOperator: false })
  await expect(disable(desk, one)).rejects.toMatchObject({ code: 'route_not_found' })
  expect((await userOf(one))?.status).toBe('active')
})
