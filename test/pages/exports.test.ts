import { expect, test } from 'bun:test'
import { refuse } from '../../src/domain/errors.ts'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import { csvDownload } from '../../src/pages/csv-download.ts'
import { visitOf } from '../../src/pages/visit.ts'
import { callWith, doorOf } from '../http/support/door.ts'
import { renameApp } from '../../src/operations/apps/apps.ts'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { addApp, addUser, installApp } from '../support/world.ts'
import { operatorWorldOfFile } from './support/operator-world.ts'
import { type Seen, signedInBrowser } from './support/plain-browser.ts'

const world = await operatorWorldOfFile()
const desk = await signedInBrowser(world.server.url, world.operator)
const owner = await signedInBrowser(world.server.url, world.user)

/** The lines of a file without its first one. */
const linesOf = ({ text }: Seen): readonly string[] => text.split('\r\n').slice(1, -1)
const latest = async () => (await world.platform.database.queries.audit.list({ appId: null, since: 0, limit: 1 }))[0]

test('operators download the audit log with its filters, in pages, and the download leaves an audit event', async () => {
  const { slug } = await addApp(world.platform, world.user)
  const names = Array.from({ length: 520 }, (_, index) => `=HYPERLINK("x") ${index}`)
  for (const name of names) await renameApp(world.platform, trace, commandLine, { slug, name })
  const page = `/desk/audit?app=${slug}&action=app.renamed&since=2000-01-01`
  const file = await desk.submit(page, '/desk/audit/export')
  expect(file.status).toBe(200)
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  const day = new Date(world.platform.clock.now()).toISOString().slice(0, 10)
  expect(file.headers.get('content-disposition')).toContain(`filename="audit-${day}.csv"`)
  expect(file.text).toStartWith('"time","event","action","outcome",')
  const lines = linesOf(file)
  expect([lines.length, new Set(lines).size]).toEqual([520, 520])
  expect(lines[0]).toContain(
    'test (command line) renamed =HYPERLINK(""x"") 518 to =HYPERLINK(""x"") 519","app.renamed","done",',
  )
  expect(lines.filter((line) => /(^|,)"?=/.test(line))).toEqual([])
  expect(await latest()).toMatchObject({
    action: 'audit.exported',
    actorKind: 'operator',
    actorId: world.operator.id,
    detail: JSON.stringify({ filters: ['since', 'app', 'action'] }),
  })
  const refused = await desk.submit('/desk/audit', '/desk/audit/export', { since: 'yesterday' })
  expect(refused.status).toBe(400)
})

test('operators download installs by status and in the order that was asked for, with names that a spreadsheet does not run', async () => {
  const app = await addApp(world.platform, world.user)
  await renameApp(world.platform, trace, commandLine, { slug: app.slug, name: '@SUM(A1) 🎉, "quoted"' })
  await installApp(world.platform, app, world.user)
  const guest = await addUser(world.platform, 'Guest')
  const waiting = { slug: app.slug, userEmail: guest.email, kind: 'store', resourceSlug: 'my-store' } as const
  await createInstall(world.platform, trace, commandLine, waiting)
  const all = linesOf(await desk.submit(`/desk/installs?app=${app.slug}&status=all`, '/desk/installs/export'))
  expect(all).toHaveLength(2)
  const oldest = await desk.submit(`/desk/installs?app=${app.slug}&status=all&sort=oldest`, '/desk/installs/export')
  expect(linesOf(oldest)).toEqual(all.toReversed())
  const [only = '', ...others] = linesOf(
    await desk.submit(`/desk/installs?app=${app.slug}`, '/desk/installs/export', { status: 'waiting' }),
  )
  expect(others).toEqual([])
  expect(only).toContain(
    `,"'@SUM(A1) 🎉, ""quoted""","${guest.email}","store","my-store","production","pending","inactive",`,
  )
  expect(await latest()).toMatchObject({ action: 'installs.exported', target: null })
})

test('owners download the events and installs of their own app, without other people', async () => {
  const { app } = world
  const guest = await addUser(world.platform, 'Guest')
  await installApp(world.platform, app, guest)
  const events = await owner.submit(`/console/${app.slug}/trail`, `/console/${app.slug}/trail/export`)
  expect(linesOf(events).some((line) => line.includes('installed Newsletter'))).toBe(true)
  expect(await latest()).toMatchObject({
    action: 'audit.exported',
    appId: app.id,
    target: app.id,
    actorId: world.user.id,
  })
  const live = `/console/${app.slug}/installs?environment=production`
  const installs = await owner.submit(live, `/console/${app.slug}/installs/export`)
  expect(linesOf(installs)).toHaveLength(2)
  const oldest = await owner.submit(`${live}&sort=oldest`, `/console/${app.slug}/installs/export`)
  expect(linesOf(oldest)).toEqual(linesOf(installs).toReversed())
  expect(await latest()).toMatchObject({ action: 'installs.exported', appId: app.id, target: app.id })
  for (const { text } of [events, installs]) {
    for (const secret of [guest.id, guest.email, 'Guest', 'my-site', world.operator.id])
      expect(text).not.toContain(secret)
  }
  const others = await addApp(world.platform, guest)
  const forms = await owner.formOn(`/console/${app.slug}/trail`, `/console/${app.slug}/trail/export`)
  expect((await owner.post(`/console/${others.slug}/trail/export`, forms)).status).toBe(403)
  expect((await owner.post('/desk/audit/export', forms)).status).toBe(404)
})

test('a download stops at the page of rows before which its right has gone', async () => {
  const { platform, server, operator } = world
  const browser = await signedInBrowser(server.url, operator)
  const sessionToken = browser.cookies.get('session') ?? ''
  const session = await authenticateSession(platform, sessionToken)
  if (session === null) throw new Error('the session does not live')
  const door = doorOf(platform)
  const call = callWith(new Request(`${server.url}/desk/audit/export`))
  const visit = visitOf(door, call, session, sessionToken)
  let isAllowed = true
  async function* pages() {
    yield [1]
    isAllowed = false
    yield [2]
  }
  const may = async () => (isAllowed ? null : refuse('route_not_found'))
  const download = csvDownload(visit, 'rows', { row: (row: number) => row }, pages(), may)
  const reader = download.body?.getReader()
  const read = async () => new TextDecoder().decode((await reader?.read())?.value)
  expect([await read(), await read()].join('')).toContain('1')
  await expect(read()).rejects.toMatchObject({ code: 'route_not_found' })
})
