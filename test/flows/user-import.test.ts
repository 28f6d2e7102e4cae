import { expect, test } from 'bun:test'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'

const world = await worldOfFile()
const { platform } = world
const rights = ['users:read', 'users:write'] as const
const { secret } = await createServiceKey(platform, trace, operator, {
  name: 'Builder',
  rights,
  networks: [],
  expiresInDays: null,
})

const importText = async (body: string) =>
  await send(world.server.url, 'POST', '~/api/management/users', {
    body,
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/x-ndjson' },
  })
const importAll = async (lines: readonly object[]) =>
  await importText(lines.map((line) => JSON.stringify(line)).join('\n'))
const person = (externalId: string, change: object = {}) => ({
  externalId,
  email: `${externalId}@builder.example`,
  name: `Person ${externalId}`,
  ...change,
})
const stored = async (externalId: string) => await platform.database.queries.users.byExternalId(externalId)
const eventCount = async () => (await auditEvents(platform)).length

test('all users of a file are stored, and the same file again changes nothing', async () => {
  const file = Array.from({ length: 1_100 }, (_, index) => person(`n${index}`))
  expect((await importAll(file)).body).toEqual({ created: 1_100, updated: 0, unchanged: 0 })
  expect(await stored('n1099')).toMatchObject({ email: 'n1099@builder.example', status: 'active', isOperator: false })
  const events = await eventCount()
  expect((await importAll(file)).body).toEqual({ created: 0, updated: 0, unchanged: 1_100 })
  expect(await eventCount()).toBe(events)
})

test('a line changes what it states, as the call for one user does, also what follows from it', async () => {
  await importAll([person('a', { pictureUrl: 'https://example.com/a.png' }), person('b')])
  const changed = [person('a', { status: 'disabled' }), person('b', { email: 'B.New@Builder.Example', name: '' })]
  expect((await importAll(changed)).body).toEqual({ created: 0, updated: 2, unchanged: 0 })
  expect(await stored('a')).toMatchObject({ status: 'disabled', pictureUrl: null })
  expect(await stored('b')).toMatchObject({ email: 'b.new@builder.example', name: 'b.new' })
  const actions = (await auditEvents(platform)).map(({ action }) => action)
  expect(actions).toEqual(expect.arrayContaining(['user.disabled', 'user.email_changed']))
  expect((await importAll([person('a')])).body).toMatchObject({ unchanged: 1 }) // without a status, it stays
})

test('two people can change addresses, whichever line comes first', async () => {
  await importAll([person('first'), person('second')])
  const swap = [
    person('first', { email: 'second@builder.example' }),
    person('second', { email: 'first@builder.example' }),
  ]
  expect((await importAll(swap)).body).toMatchObject({ updated: 2 })
  expect((await importAll(swap.toReversed())).body).toMatchObject({ unchanged: 2 })
  expect(await stored('second')).toMatchObject({ email: 'first@builder.example' })
})

test('if lines are wrong, all of them are named with the rule, and nothing is stored', async () => {
  const { email } = world.user
  const events = await eventCount()
  const answer = await importText(
    [
      JSON.stringify(person('good')),
      '{',
      JSON.stringify({ externalId: 'x', email: 'x@builder.example' }),
      JSON.stringify(person('y', { email: 'nobody' })),
      JSON.stringify(person('..')),
      JSON.stringify(person('good', { email: 'other@builder.example' })),
      JSON.stringify(person('z', { email: 'GOOD@builder.example' })),
      '{"externalId":"k","externalId":"l","email":"k@builder.example","name":"K"}',
      JSON.stringify(person('p', { pictureUrl: 'http://example.com/p.png' })),
      JSON.stringify(person('s', { status: 'gone' })),
    ].join('\n'),
  )
  expectRefusal(answer, 'invalid_request')
  const told: readonly { line: number; message: string }[] = answer.body.error.details.lines
  expect(told.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(told.map(({ message }) => message.split(':')[0])).toEqual([
    'This is not a JSON object.',
    'name',
    'email',
    'externalId',
    'externalId',
    'email',
    'The JSON has an object with the same field twice, which is not taken here.',
    'pictureUrl',
    'status',
  ])
  expectRefusal(await importAll([person('good'), person('taken', { email })]), 'invalid_request')
  expect(await stored('good')).toBeNull()
  expect(await eventCount()).toBe(events)
})

test('an operator is never created, changed or ended by a line', async () => {
  await importAll([person('boss')])
  const boss = await stored('boss')
  await setOperator(platform, trace, operator, { userId: boss?.id ?? '', isOperator: true })
  for (const change of [{}, { status: 'disabled' }, { email: 'mine@builder.example' }]) {
    expectRefusal(await importAll([person('boss', change)]), 'invalid_request')
  }
  expect(await stored('boss')).toMatchObject({ email: 'boss@builder.example', status: 'active', isOperator: true })
})

test('an empty file stores nothing', async () => {
  expect((await importText('')).body).toEqual({ created: 0, updated: 0, unchanged: 0 })
})
