import { describe, expect, test } from 'bun:test'
import { importUsers } from '../../src/operations/users/import-users.ts'
import { createUser, putBuilderUser } from '../../src/operations/users/users.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'

const platform = await platformOfFile()
const { queries } = platform.database

type Line = readonly [externalId: string, email: string]

const stated = (text: string) => {
  const [externalId = '', email = ''] = text.split(' ')
  return { externalId, email, name: 'Somebody', pictureUrl: null, status: null }
}
const importLines = async (lines: readonly Line[]) => {
  const chunks = async function* () {
    yield new TextEncoder().encode(lines.map((line) => line.join(' ')).join('\n'))
  }
  return await importUsers(platform, trace, operator, { chunks: chunks(), read: stated })
}
/** People of a test with the addresses of this number, in the order of their numbers. */
const people = (of: string, count: number, shift = 0): readonly Line[] =>
  Array.from({ length: count }, (_, index) => [`${of}-${index}`, `${of}-${(index + shift) % count}@example.com`])
const emailsOf = async (lines: readonly Line[]) =>
  Object.fromEntries(
    (await queries.users.byExternalIds(lines.map(([externalId]) => ({ externalId })))).map((user) => [
      user.externalId,
      user.email,
    ]),
  )

/** The same lines in another order, which is always the same one. */
const shuffled = <T>(items: readonly T[], seed: number): readonly T[] =>
  items
    .map((item, index) => [Bun.hash.wyhash(`${seed} ${index}`), item] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item)

describe('a file of users is judged by the state that it leads to', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'addresses go on to others, round, and to new users, in whatever order (%d)',
    async (seed) => {
      const of = `mixed${seed}`
      await importLines(people(of, 9))
      const address = (index: number) => `${of}-${index}@example.com`
      const file: readonly Line[] = shuffled(
        [
          [`${of}-0`, address(1)], // two change places
          [`${of}-1`, address(0)],
          [`${of}-2`, address(3)], // three go round
          [`${of}-3`, address(4)],
          [`${of}-4`, address(2)],
          [`${of}-5`, address(6)], // one after the other
          [`${of}-6`, address(7)],
          [`${of}-7`, `${of}-fresh@example.com`],
          [`${of}-new`, address(5)],
          [`${of}-8`, address(8)],
        ],
        seed,
      )
      expect(await importLines(file)).toEqual({ created: 1, updated: 8, unchanged: 1 })
      expect(await emailsOf(file)).toEqual(Object.fromEntries(file))
      expect(await importLines(file)).toEqual({ created: 0, updated: 0, unchanged: 10 })
      const ids = new Set(
        (await queries.users.byExternalIds(file.map(([externalId]) => ({ externalId })))).map(({ id }) => id),
      )
      const changed = (await auditEvents(platform)).filter(
        ({ action, target }) => action === 'user.email_changed' && ids.has(target ?? ''),
      )
      expect(changed).toHaveLength(8)
    },
  )

  test.each(['round', 'reversed', 'in order'])(
    'more people than one transaction takes pass their addresses on: %s',
    async (order) => {
      const of = `many-${order.slice(0, 2)}`
      const before = people(of, 1_234)
      await importLines(before)
      const round = people(of, 1_234, 1)
      const passed: readonly Line[] = [...round.slice(0, -1), [`${of}-1233`, `${of}-last@example.com`]]
      const file = order === 'round' ? round : order === 'reversed' ? passed.toReversed() : passed
      expect(await importLines(file)).toEqual({ created: 0, updated: 1_234, unchanged: 0 })
      expect(await emailsOf(file)).toEqual(Object.fromEntries(file))
    },
  )

  test('an address of somebody who keeps it, or whom the file does not name, is refused, and nothing is stored', async () => {
    await importLines(people('kept', 3))
    const own = await createUser(platform, trace, operator, {
      email: 'kept-own@example.com',
      name: 'Own',
      password: 'a good long password',
      isOperator: false,
    })
    await putBuilderUser(platform, trace, operator, {
      ...stated('kept-beside kept-beside@example.com'),
      status: 'active',
    })
    for (const [file, line] of [
      [[['kept-0', 'kept-1@example.com']], 1],
      [
        [
          ['kept-1', 'kept-1@example.com'],
          ['kept-0', 'kept-beside@example.com'],
        ],
        2,
      ],
      [
        [
          ['kept-0', 'kept-1@example.com'],
          ['kept-1', own.email],
        ],
        2,
      ],
    ] as const) {
      await expect(importLines(file)).rejects.toMatchObject({
        facts: { message: `Line ${line}: email: Another user has this address.` },
      })
      expect(await emailsOf(people('kept', 3))).toEqual(Object.fromEntries(people('kept', 3)))
    }
  })
})
