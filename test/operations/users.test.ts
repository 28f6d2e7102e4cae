import { expect, test } from 'bun:test'
import { signIn } from '../support/sign-in.ts'
import { createUser } from '../../src/operations/users/users.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { operator, trace } from '../support/operator.ts'

const platform = await platformOfFile()

const ada = { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery', isOperator: false }
/** The refused field of a new user; 'done' if none is refused. */
const create = async (change: Partial<typeof ada> = {}) =>
  await createUser(platform, trace, operator, { ...ada, ...change }).then(
    () => 'done',
    (error: { facts: { param?: string } }) => error.facts.param,
  )

test('a user needs an address of their own, a name, and an allowed password', async () => {
  expect(await create({ email: 'no address' })).toBe('email')
  expect(await create({ name: ' ' })).toBe('name')
  expect(await create({ password: 'short' })).toBe('password')
  expect(await create({ password: 'Iloveyou' })).toBe('password')
  expect(await platform.database.queries.users.count()).toBe(0)
  expect(await create()).toBe('done')
  expect(await create({ email: 'ADA@example.com' })).toBe('email')
  expect(await platform.database.queries.users.count()).toBe(1)
  expect((await signIn(platform, trace, ada)).user).toMatchObject({ email: ada.email, name: ada.name })
})
