import { expect, test } from 'bun:test'
import { putBuilderUser } from '../../src/operations/users/users.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { addUser } from '../support/world.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

const world = await operatorWorldOfFile()
const url = world.server.url
const desk = await signedInBrowser(url, world.operator)

const list = '/desk/service-keys'
const form = `${list}/new`
const words = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const secretIn = (html: string): string => /apok_[0-9A-Za-z]+/.exec(html)?.[0] ?? ''
const usersStatus = async (key: string) =>
  (await fetch(`${url}/api/management/users`, { headers: { Authorization: `Bearer ${key}` } })).status

/** Creates a key on the form, and follows to the page that shows it. */
const createKey = async () => {
  const typed = {
    name: 'Builder backend',
    rights: ['users:read', 'users:write'],
    networks: '127.0.0.0/8 ::1',
    expiresInDays: '',
  }
  const shown = (await desk.submit(form, form, typed)).headers.get('location') ?? ''
  const secret = secretIn((await desk.get(shown)).text)
  return { secret, path: shown.replace('/new', ''), shown }
}

test('a key is created, shown once, and works', async () => {
  const { secret, path, shown } = await createKey()
  expect(await usersStatus(secret)).toBe(200)
  expect((await desk.get(shown)).text).not.toContain(secret)
  const page = words((await desk.get(path)).text)
  for (const fact of ['Builder backend', 'Read and export users', '127.0.0.0/8, ::1/128', 'Events by this key'])
    expect(page).toContain(fact)
  expect(words((await desk.get(list)).text)).toContain('users:read, users:write')
})

test('all errors of the form come at once, and what was typed stays', async () => {
  const refused = await desk.submit(form, form, { name: '', rights: [], networks: 'nowhere', expiresInDays: '0' })
  expect(refused.status).toBe(400)
  for (const field of ['name', 'rights', 'networks', 'expiresInDays'])
    expect(refused.text).toContain(`id="${field}-fault"`)
  expect(refused.text).toContain('value="nowhere"')
})

test('a single fault is said once, at its field, and names the entry of a list', async () => {
  const sent = {
    name: 'Builder',
    rights: ['users:read'],
    networks: '10.0.0.0/8, 10.0.0.1,10.0.0.0/33',
    expiresInDays: '',
  }
  const { text } = await desk.submit(form, form, sent)
  expect(text.split('Entry 3 of the networks is neither')).toHaveLength(2)
  expect(text).toContain('id="networks-fault" class="fault" role="alert"')
  const days = await desk.submit(form, form, { ...sent, networks: '', expiresInDays: 'never' })
  expect(days.text.split('or nothing for a key that does not expire')).toHaveLength(2)
  // Two or more are also listed above the form.
  const two = await desk.submit(form, form, { ...sent, expiresInDays: 'never' })
  expect(two.text).toContain('Correct these 2 things')
  expect(two.text.split('Entry 3 of the networks is neither')).toHaveLength(3)
})

test.each(['0x10', '1e3', '+5', '5 5', '5.0', '٣', '', 'null'])(
  'the days of a key are whole and in digits: %p',
  async (days) => {
    const form = '/desk/service-keys/new'
    const sent = { name: 'Builder', rights: ['users:read'], networks: '', expiresInDays: days }
    expect((await desk.submit(form, form, sent)).status).toBe(days === '' ? 303 : 400)
  },
)

test('a rotated key has the same rights, and the old one ends as chosen', async () => {
  const { secret, path } = await createKey()
  const shown =
    (await desk.submit(`${path}/rotate`, `${path}/rotate`, { graceHours: '0' })).headers.get('location') ?? ''
  const next = secretIn((await desk.get(shown)).text)
  expect([await usersStatus(secret), await usersStatus(next)]).toEqual([401, 200])
  const wrong = await desk.submit(`${shown.replace('/new', '')}/rotate`, `${shown.replace('/new', '')}/rotate`, {
    graceHours: 'x',
  })
  expect([wrong.status, wrong.text.includes('id="graceHours-fault"')]).toEqual([400, true])
})

test('a key is revoked after a question, and is listed as ended', async () => {
  const { secret, path } = await createKey()
  expect(words((await desk.get(`${path}/revoke`)).text)).toContain('Every call with it is refused from now on')
  await desk.submit(`${path}/revoke`, `${path}/revoke`)
  expect(await usersStatus(secret)).toBe(401)
  const page = (await desk.get(path)).text
  expect([words(page).includes('Ended'), page.includes(`${path}/rotate`)]).toEqual([true, false])
})

test('the desk shows the ID in the builder and how a user signs in, and offers no password to somebody who may not use one', async () => {
  const stated = { externalId: 'b/7', email: 'seven@builder.example', name: 'Seven', pictureUrl: null, status: null }
  const { user } = await putBuilderUser(world.platform, trace, commandLine, stated)
  const found = await desk.get(`/desk/users?q=${encodeURIComponent('b/7')}`)
  expect(found.text).toContain('seven@builder.example')
  const page = words((await desk.get(`/desk/users/${user.id}`)).text)
  expect(page).toContain('b/7')
  expect(page).toContain('Cannot sign in: no method is available to them')
  expect(page).toContain('Create a link to set a password')
  const own = await addUser(world.platform)
  const ofOwn = words((await desk.get(`/desk/users/${own.id}`)).text)
  expect([ofOwn.includes('With a password'), ofOwn.includes('ID in the builder')]).toEqual([true, false])
})
