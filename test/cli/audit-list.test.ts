import { beforeAll, expect, test } from 'bun:test'
import type { Json } from '../support/call.ts'
import { addUser, type Desk, isoTime, openDesk } from './support/run.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
  await desk.json(['seed'])
  await addUser(desk, 'late@example.com')
})

const list = async (...words: string[]): Promise<Json[]> => (await desk.json(['audit', 'list', ...words])).data

test('events are listed oldest first, include issued tokens, and name the actor, the target and the address', async () => {
  const events = await list('--limit', '10000')
  expect(events.map((event) => event.at)).toEqual(events.map((event) => event.at).toSorted())
  expect(events.filter((event) => event.action === 'app_token.issued')).toHaveLength(7)
  expect(events.at(-1)).toEqual({
    id: expect.stringMatching(/^aud_[0-9a-f]{32}$/),
    at: expect.stringMatching(isoTime),
    actor: { kind: 'operator', id: expect.stringMatching(/^.+$/) },
    appId: null,
    environment: null,
    action: 'user.created',
    target: expect.stringMatching(/^usr_/),
    outcome: 'done',
    reason: null,
    detail: { operator: false },
    requestId: expect.stringMatching(/^req_[0-9a-f]{32}$/),
    address: 'local',
  })
})

test('--limit keeps the latest events', async () => {
  const all = await list('--limit', '10000')
  expect(await list('--limit', '3')).toEqual(all.slice(-3))
})

test('--app lists the events of one app; an unknown app exits 1', async () => {
  const events = await list('--app', 'shop-insights')
  expect(new Set(events.map((event) => event.appId)).size).toBe(1)
  expect(events.map((event) => event.action)).toContain('app_token.issued')
  expect((await desk.run(['audit', 'list', '--app', 'nope', '--json'])).exitCode).toBe(1)
})

test('an action that there is none of is refused and does not look as if it never happened', async () => {
  expect(await list('--action', 'user', '--limit', '10000')).not.toEqual([])
  expect(await list('--action', 'user.erased')).toEqual([])
  for (const action of ['user.creatd', 'User.created', 'use', 'user.', '*']) {
    const { exitCode, stderr } = await desk.run(['audit', 'list', '--action', action])
    expect({ action, exitCode, stderr }).toEqual({
      action,
      exitCode: 2,
      stderr: expect.stringContaining('no action of this name'),
    })
  }
})

test('--since takes a time, a day in UTC, or a duration before now', async () => {
  const all = await list('--limit', '10000')
  expect(await list('--since', '7d', '--limit', '10000')).toEqual(all)
  expect(await list('--since', '24h', '--limit', '10000')).toEqual(all)
  const since = all[10].at
  expect(await list('--since', since, '--limit', '10000')).toEqual(all.filter((event) => event.at >= since))
  expect(await list('--since', '2999-01-01T00:00:00Z')).toEqual([])
  expect(await list('--since', '2999-01-01')).toEqual([])
  const firstDay = all[0]?.at.slice(0, 10) ?? ''
  expect(await list('--since', firstDay, '--limit', '10000')).toEqual(all.filter(({ at }) => at >= firstDay))
})

test('no event contains a password or a secret', async () => {
  const { data } = await desk.json(['app', 'list'])
  const secret = await desk.json(['credential', 'rotate', data[0].clientIds.development])
  const { stdout } = await desk.run(['audit', 'list', '--limit', '10000', '--json'])
  expect(stdout).not.toContain(secret.clientSecret)
  expect(stdout).not.toMatch(/aps_|apat_|\$2[aby]\$/)
})

test('--person and --action list only what a person has done, and one kind of event', async () => {
  const created = await list('--action', 'user.created', '--limit', '1000')
  expect(created.length).toBeGreaterThan(1)
  expect(new Set(created.map(({ action }) => action))).toEqual(new Set(['user.created']))
  expect(created.map(({ at }) => at)).toEqual(created.map(({ at }) => at).toSorted())
  expect(await list('--action', 'user.created', '--limit', '1')).toEqual(created.slice(-1))
  const ofUsers = await list('--action', 'user', '--limit', '1000')
  expect(ofUsers.length).toBeGreaterThanOrEqual(created.length)
  const everything = await list('--limit', '10000')
  const person = everything.find(({ actor }) => actor.kind === 'app')?.actor.id
  const own = everything.filter(({ actor }) => actor.id === person)
  expect(await list('--person', person, '--limit', '10000')).toEqual(own)
  expect(await list('--person', 'late@example.com')).toEqual([])
  const unknown = await desk.run(['audit', 'list', '--person', 'nobody@example.com'])
  expect([unknown.exitCode, unknown.stdout]).toEqual([1, ''])
})
