import { beforeAll, expect, test } from 'bun:test'
import { addApp, addUser, type Desk, failureIn, isoTime, openDesk } from './support/run.ts'

let desk: Desk
let slug: string
beforeAll(async () => {
  desk = await openDesk()
  await addUser(desk)
  slug = (await addApp(desk)).slug
})

const add = (name: string, ...flags: readonly string[]) => [
  'scope',
  'add',
  name,
  '--text',
  'List your orders',
  ...flags,
]

test('a scope is added, listed, given, taken back and retired', async () => {
  const created = await desk.json(add('orders:read', '--for', 'both'))
  expect(created).toMatchObject({
    name: 'orders:read',
    for: 'both',
    text: 'List your orders',
    restricted: true,
    createdAt: expect.stringMatching(isoTime),
    retiredAt: null,
  })
  expect((await desk.json(add('mail:send', '--for', 'app', '--no-restricted'))).restricted).toBe(false)
  expect((await desk.json(add('likes:read', '--for', 'user', '--restricted'))).restricted).toBe(true)
  expect((await desk.json(['scope', 'list'])).data.map(({ name }: { name: string }) => name)).toEqual([
    'likes:read',
    'mail:send',
    'orders:read',
  ])
  expect((await desk.json(['scope', 'give', 'orders:read', slug])).given).toEqual(['orders:read'])
  expect((await desk.json(['scope', 'take', 'orders:read', slug])).given).toEqual([])
  const retired = await desk.json(['scope', 'retire', 'orders:read'])
  expect(retired).toMatchObject({ name: 'orders:read', retiredAt: expect.stringMatching(isoTime), apps: 0, grants: 0 })
})

test('a wrong name, a reserved area and a retired name are refused', async () => {
  await desk.json(add('old:read', '--for', 'user'))
  await desk.json(['scope', 'retire', 'old:read'])
  for (const name of ['orders', 'site:write', 'old:read']) {
    const run = await desk.run([...add(name, '--for', 'user'), '--json'])
    expect([run.exitCode, failureIn(run)]).toEqual([1, 'invalid_request'])
  }
  expect((await desk.run(add('orders:write', '--for', 'everybody'))).exitCode).toBe(2)
  expect((await desk.run(['scope', 'retire', 'nobody:read'])).exitCode).toBe(1)
})

const setTo = (scopes: string) => ['app', 'set-scopes', slug, '--scopes', scopes]

test('set-scopes replaces what an app may ask for, also by scopes of the operator, and refuses what does not exist', async () => {
  await desk.json(['scope', 'add', 'pages:read', '--for', 'user', '--text', 'Read your pages'])
  expect((await desk.json(setTo('site:read pages:read'))).scopes).toEqual(['pages:read', 'site:read'])
  const refused = await desk.run([...setTo('site:read nothing:read'), '--json'])
  expect({ exitCode: refused.exitCode, code: failureIn(refused) }).toEqual({ exitCode: 1, code: 'invalid_request' })
  const [app] = (await desk.json(['app', 'list'])).data
  expect(app.scopes).toEqual(['pages:read', 'site:read'])
})
