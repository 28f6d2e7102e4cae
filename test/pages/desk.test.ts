import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { call } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { onSqlite } from '../support/engines.ts'
import { onPostgres } from '../support/postgres.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { addApp, appToken, type Login } from '../support/world.ts'
import { addOperator, operatorWorldOfFile } from './support/operator-world.ts'
import { signedInBrowser } from './support/plain-browser.ts'

const world = await operatorWorldOfFile()
const url = world.server.url
const desk = await signedInBrowser(url, world.operator)

const queries = () => world.platform.database.queries
const latestEvent = async () => (await queries().audit.list({ appId: null, since: 0, limit: 1 }))[0]
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ')

const freshInstall = async (user: Login) =>
  (
    await createInstall(world.platform, trace, commandLine, {
      slug: (await addApp(world.platform, world.user)).slug,
      userEmail: user.email,
      kind: 'site',
      resourceSlug: 'my-site',
    })
  ).id
const stateOf = async (id: string) => {
  const found = await queries().installs.find(id)
  return [found?.install.approval, found?.install.state]
}

describe('access to the desk', () => {
  test('removed operator rights end with the next request', async () => {
    const leaving = await addOperator(world.platform, 'Leaving')
    const browser = await signedInBrowser(url, leaving)
    expect((await browser.get('/desk/health')).status).toBe(200)
    await setOperator(world.platform, trace, commandLine, { userId: leaving.id, isOperator: false })
    expect((await browser.get('/desk/health')).status).toBe(404)
  })
})

describe('installs', () => {
  test('are approved and deactivated, each with the operator as the actor', async () => {
    const id = await freshInstall(world.user)
    for (const [step, action, state] of [
      ['approve', 'install.approved', ['approved', 'active']],
      ['deactivate', 'install.deactivated', ['approved', 'inactive']],
    ] as const) {
      const list = step === 'approve' ? '/desk/installs' : '/desk/installs?status=active'
      const { status, headers } = await desk.submit(list, `/desk/installs/${id}/${step}`)
      expect([status, headers.get('location')?.endsWith(`done=${step}`)]).toEqual([303, true])
      expect(await stateOf(id)).toEqual([...state])
      expect(await latestEvent()).toMatchObject({
        action,
        actorKind: 'operator',
        actorId: world.operator.id,
        target: id,
      })
    }
  })

  test('that wait are shown first; an app, a user and a status narrow the list, and an action leads back to it', async () => {
    const id = await freshInstall(world.user)
    const approve = `/desk/installs/${id}/approve`
    expect((await desk.get('/desk/installs')).text).toContain(approve)
    expect((await desk.get('/desk/installs?status=active')).text).not.toContain(approve)
    const slug = (await queries().installs.describe(id))?.app ?? ''
    const own = `/desk/installs?app=${slug}&user=${encodeURIComponent(world.user.email)}`
    expect((await desk.get(own)).text).toContain(approve)
    expect((await desk.get(`/desk/installs?q=${slug}`)).text).toContain(approve)
    expect((await desk.get('/desk/installs?q=no-such-thing')).text).toContain('Nothing matches.')
    for (const [query, sentence] of [
      ['app=no-such-app', 'There is no app with this slug or ID.'],
      ['user=nobody@example.com', 'There is no user with this address.'],
    ]) {
      const unknown = await desk.get(`/desk/installs?${query}`)
      expect([unknown.status, unknown.text.includes(sentence ?? '')]).toEqual([400, true])
    }
    const approved = await desk.submit(own, approve)
    expect(approved.headers.get('location')).toBe(`${own}&done=approve`)
    const ended = await desk.submit(`${own}&status=active`, `/desk/installs/${id}/deactivate`)
    expect(ended.headers.get('location')).toBe(`${own}&status=active&done=deactivate`)
    expect(await stateOf(id)).toEqual(['approved', 'inactive'])
  })

  test('lead back to their list and to nothing else', async () => {
    for (const back of [
      'https://evil.example/',
      '//evil.example',
      '/desk/apps?q=x',
      '/desk/installs/../apps',
      '\\\\evil',
    ]) {
      const id = await freshInstall(world.user)
      const hidden = await desk.formOn('/desk/installs', `/desk/installs/${id}/approve`)
      const { headers } = await desk.post(`/desk/installs/${id}/approve`, { ...hidden, back })
      expect(headers.get('location')).toBe('/desk/installs?done=approve')
      await desk.submit('/desk/installs?status=active', `/desk/installs/${id}/deactivate`)
    }
  })

  test('that are chosen together are each decided by themselves, and the answer says what became of each', async () => {
    const [first, second, third, fourth] = [
      await freshInstall(world.user),
      await freshInstall(world.user),
      await freshInstall(world.user),
      await freshInstall(world.user),
    ]
    const list = '/desk/installs?status=waiting&sort=newest'
    const { text: page } = await desk.get(list)
    expect([...page.matchAll(/<input type="checkbox" name="id" form="chosen"/g)].length).toBeGreaterThanOrEqual(4)
    const form = await desk.formOn(list, '/desk/installs/approve')
    await desk.submit(list, `/desk/installs/${second}/reject`)
    const unknown = `ins_${'0'.repeat(32)}`
    const { status, text } = await desk.post('/desk/installs/approve', {
      ...form,
      id: [first, second, third, first, unknown, '<b>'],
    })
    expect(status).toBe(200)
    expect(text).toContain('2 approved, 3 not')
    expect([...text.matchAll(/Approved\. The app can now work/g)]).toHaveLength(2)
    expect([...text.matchAll(/has already been decided, or no longer exists/g)]).toHaveLength(3)
    expect(text).not.toContain('<b>')
    expect(text).toContain(`href="${list.replace('&', '&amp;')}"`)
    expect(await stateOf(first)).toEqual(['approved', 'active'])
    expect(await stateOf(second)).toEqual(['rejected', 'inactive'])
    expect(await stateOf(third)).toEqual(['approved', 'active'])
    expect(await stateOf(fourth)).toEqual(['pending', 'inactive'])
    const again = await desk.post('/desk/installs/approve', { ...form, id: [first] })
    expect(again.text).toContain('0 approved, 1 not')
  })

  test('none, or more than a page has, cannot be approved together; what was ticked stays ticked', async () => {
    const id = await freshInstall(world.user)
    const list = '/desk/installs?status=waiting&sort=newest'
    const form = await desk.formOn(list, '/desk/installs/approve')
    const none = await desk.post('/desk/installs/approve', form)
    expect([none.status, none.text.includes('Choose at least one install.')]).toEqual([400, true])
    const many = [id, ...Array.from({ length: 50 }, (_, index) => `ins_${String(index).padStart(32, '0')}`)]
    const tooMany = await desk.post('/desk/installs/approve', { ...form, id: many })
    expect([tooMany.status, tooMany.text.includes('Choose at most 50 installs.')]).toEqual([400, true])
    expect(tooMany.text).toMatch(new RegExp(`value="${id}"[^>]* checked`))
    expect(await stateOf(id)).toEqual(['pending', 'inactive'])
  })

  test('that two operators decide at the same time are decided once (50 times)', async () => {
    const id = await freshInstall(world.user)
    const [approve, reject] = [`/desk/installs/${id}/approve`, `/desk/installs/${id}/reject`]
    const list = '/desk/installs'
    const colleague = await signedInBrowser(url, world.colleague)
    const pages = [
      { browser: desk, approve: await desk.formOn(list, approve), reject: await desk.formOn(list, reject) },
      {
        browser: colleague,
        approve: await colleague.formOn(list, approve),
        reject: await colleague.formOn(list, reject),
      },
    ] as const
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const form = pages[index % 2 === 0 ? 0 : 1]
        return index % 4 < 2
          ? await form.browser.post(approve, form.approve)
          : await form.browser.post(reject, form.reject)
      }),
    )
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(49)
    for (const { text } of refused) expect(text).toContain('This install has already been decided')
    const events = (await queries().audit.list({ appId: null, since: 0, limit: 1000 })).filter(
      ({ action, target }) => target === id && action !== 'install.created',
    )
    expect(events).toHaveLength(1)
  })
})

describe('apps', () => {
  test('are suspended together with their secrets and tokens, and activating restores both', async () => {
    const { slug, production } = world.app
    const token = await appToken(url, production)
    const works = async () => (await call(url, 'GET', '/me', { token })).status
    const path = `/desk/apps/${slug}`
    expect((await desk.get(path)).text).toContain('Its secrets and tokens stop working until you activate it again')
    expect((await desk.submit(path, `${path}/suspend`)).headers.get('location')).toBe(`${path}?done=suspended`)
    expect(await latestEvent()).toMatchObject({ action: 'app.suspended', actorId: world.operator.id })
    expect(await works()).toBe(401)
    expect((await desk.submit(path, `${path}/activate`)).status).toBe(303)
    expect(await works()).toBe(200)
  })

  test('are found by name and slug, and an unknown app has no page', async () => {
    const { slug } = world.app
    expect((await desk.get(`/desk/apps?q=${slug}`)).text).toContain(`href="/desk/apps/${slug}"`)
    expect((await desk.get('/desk/apps?q=NEWSLETTER')).text).toContain(`href="/desk/apps/${slug}"`)
    expect((await desk.get('/desk/apps?q=%25')).text).toContain('Nothing matches.')
    expect((await desk.get('/desk/apps/nowhere')).status).toBe(404)
    expect((await desk.get('/desk/apps?q=a&q=b')).status).toBe(400)
  })
})

test('the health page shows the state of the database, live tokens and sessions, and the program', async () => {
  const text = textOf((await desk.get('/desk/health')).text)
  expect(text).toMatch(/Accepts writes\s+Yes/)
  expect(text).toMatch(/Database\s+\d+\.\d [KM]iB/)
  expect(text).toMatch(/Transactions per commit\s+\d+\.\d\d/)
  expect(text).toMatch(/Sessions\s+\d+/)
  expect(text).toMatch(/(SQLite|PostgreSQL)\s+\d+\.\d+/)
  expect(text).toMatch(/Started\s+(just now|\d+ \w+ ago)/)
  expect(text).toMatch(/Purge of expired rows:\s+Up to date/)
  expect(text).toMatch(/Removes expired rows, once a minute\s+purge\s+\w+/)
  expect(text).toMatch(/Artifacts\s+\d+ bytes\s+\d+ files?/)
})

test('the health page speaks of backups and of the disk only where the database is a file', async () => {
  const text = textOf((await desk.get('/desk/health')).text)
  for (const fact of ['Last backup', 'Last restore from a backup', 'Free disk space', 'Write-ahead log'])
    expect([fact, text.includes(fact)]).toEqual([fact, !onPostgres])
})

const health = async () => textOf((await desk.get('/desk/health')).text)

onSqlite('locked file')(
  'the health page shows every condition that needs an operator, with advice, while it lasts',
  async () => {
    const sentence = 'Another program'
    expect(await health()).not.toContain(sentence)
    const other = new Database(world.server.database)
    other.run('PRAGMA busy_timeout = 5000')
    other.run('BEGIN IMMEDIATE')
    const refusesWrites = /Accepts writes\s+No/
    const shown = await eventually(health, (text) => text.includes(sentence) && refusesWrites.test(text))
    other.run('ROLLBACK')
    other.close()
    expect(shown).toContain(sentence)
    expect(shown).toMatch(refusesWrites)
    expect(await eventually(health, (text) => !text.includes(sentence))).not.toContain(sentence)
  },
)
