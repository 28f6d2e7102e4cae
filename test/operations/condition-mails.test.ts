import { afterAll, expect, test } from 'bun:test'
import { refuse } from '../../src/domain/errors.ts'
import type { HeldCondition } from '../../src/operations/health/health.ts'
import { createConditionTeller } from '../../src/operations/health/told-conditions.ts'
import { sendNextMail } from '../../src/operations/mails/send-mails.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { auditEvents } from '../support/audit-events.ts'
import { startMailServer } from '../support/mail-server.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { addUser } from '../support/world.ts'

const withoutMail = await platformOfFile()
const server = await startMailServer()
afterAll(async () => await server.down())
const mailer = server.mailer()
const platform: Platform = { ...withoutMail, mailer }

const addOperator = async () => {
  const user = await addUser(platform)
  await setOperator(platform, trace, operator, { userId: user.id, isOperator: true })
  return user
}
const [ada, bob] = [await addOperator(), await addOperator()]
await addUser(platform) // who is told nothing

const full: HeldCondition = { name: 'disk_full', sentence: 'The disk is <full>: make room.', endsReadiness: true }
const differs: HeldCondition = { name: 'settings_differ', sentence: 'The settings differ.', endsReadiness: false }
const second = 1_000

/** Looks at these times, and gives the subjects of the mails that were sent and the events that were written since. */
const looks = async (
  moments: readonly (readonly [atMs: number, holding: readonly HeldCondition[]])[],
  { by = platform, teller = createConditionTeller('server-1', mailer) } = {},
) => {
  const before = [server.received.length, (await auditEvents(platform)).length] as const
  for (const [atMs, holding] of moments) await teller.look(by, holding, atMs)
  const direct = server.received.length - before[0]
  while (await sendNextMail(platform, trace, mailer));
  return {
    direct,
    mails: [
      ...Map.groupBy(server.received.slice(before[0]), ({ head }) => /^Subject: (.*)$/m.exec(head)?.[1]?.trim()),
    ].map(([subject, sent]) => ({ to: sent.flatMap(({ to }) => to).toSorted(), subject, body: JSON.stringify(sent) })),
    events: (await auditEvents(platform))
      .slice(before[1])
      .filter(({ action }) => action.startsWith('condition.'))
      .map(({ action, target, actorKind }) => `${action} ${target} ${actorKind}`),
  }
}
const everySecond = (from: number, to: number, holding: readonly HeldCondition[]) =>
  Array.from({ length: to - from }, (_, at) => [(from + at) * second, holding] as const)

test('a condition is mailed to all operators once when it begins and once when it ends, and audited', async () => {
  const { mails, events } = await looks([...everySecond(0, 100, [full]), ...everySecond(100, 300, [])])
  expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
    [[ada.email, bob.email].toSorted(), 'Problem at App Platform: disk_full'],
    [[ada.email, bob.email].toSorted(), 'Solved at App Platform: disk_full'],
  ])
  expect(mails[0]?.body).toContain('make room')
  expect(mails[0]?.body).not.toContain('<full>: make room.</p>')
  expect(events).toEqual(['condition.began disk_full system', 'condition.ended disk_full system'])
})

test('one that comes and goes is told once, and a moment of one never', async () => {
  const flapping = Array.from({ length: 300 }, (_, at) => [at * second, at % 20 < 15 ? [full] : []] as const)
  const { mails } = await looks(flapping)
  expect(mails.map(({ subject }) => subject)).toEqual(['Problem at App Platform: disk_full'])
  const short = await looks([...everySecond(0, 9, [full]), ...everySecond(9, 200, [])])
  expect([short.mails, short.events]).toEqual([[], []])
})

const withDatabase = (change: Partial<Platform['database']>): Platform => {
  const { database } = platform
  const keeping = new Proxy(database, {
    get: (target, name) => {
      const own: unknown = Reflect.get(change, name) ?? Reflect.get(target, name)
      return typeof own === 'function' ? own.bind(target) : own
    },
  })
  return { ...platform, database: keeping }
}

test('of the servers of a database only the one that leads tells what all of them see', async () => {
  const follower = withDatabase({ leads: () => false })
  const { events } = await looks(everySecond(0, 30, [full, differs]), { by: follower })
  expect(events).toEqual(['condition.began disk_full system'])
  const leader = await looks(everySecond(0, 30, [differs]))
  expect(leader.events).toEqual(['condition.began settings_differ system'])
  // One that no longer leads does not say that it is over.
  const teller = createConditionTeller('server-1', mailer)
  expect((await looks(everySecond(0, 30, [differs]), { teller })).events.length).toBe(1)
  expect((await looks(everySecond(30, 200, [differs]), { teller, by: follower })).events).toEqual([])
})

test('while the store takes no writes, the mail is sent at once and only once, and the event follows', async () => {
  const refusing = withDatabase({ transaction: async () => await Promise.reject(refuse('unavailable')) })
  const teller = createConditionTeller('server-1', mailer)
  const during = await looks(everySecond(0, 40, [full]), { by: refusing, teller })
  expect([during.direct, during.mails.length, during.events]).toEqual([2, 1, []])
  const after = await looks(everySecond(40, 300, []), { teller })
  expect(after.mails.map(({ subject }) => subject)).toEqual(['Solved at App Platform: disk_full'])
  expect(after.events).toEqual(['condition.began disk_full system', 'condition.ended disk_full system'])
})

test('those who are no longer operators or are disabled when it is sent get none', async () => {
  await setUserStatus(platform, trace, operator, { email: bob.email, status: 'disabled', apps: { kind: 'keep' } })
  const { mails } = await looks(everySecond(0, 30, [full]))
  expect(mails.map(({ to }) => to)).toEqual([[ada.email]])
})
