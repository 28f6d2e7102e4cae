import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type FlakyProxy, startFlakyProxy } from '../client/support/flaky-proxy.ts'
import { createWorld, endWorld, addApp, type AppInWorld, type World } from '../support/world.ts'
import { countRows } from '../support/expired-rows.ts'
import { moveThrough } from '../support/version.ts'
import { appFolder, asVariables, type Developer, newDeveloper, pipeline } from './support/developer.ts'
import { atTerminal } from './support/terminal.ts'
import { failureIn } from './support/run.ts'

let world: World
let app: AppInWorld
let developer: Developer
let proxy: FlakyProxy
beforeAll(async () => void (world = await createWorld()))
afterAll(async () => await endWorld(world))
beforeEach(async () => {
  app = await addApp(world.platform, world.user)
  developer = pipeline(world.server.url, app.development)
  proxy = await startFlakyProxy(world.server.url)
})
afterEach(() => proxy.close())

const folder = appFolder()
const create = (version: string) => ['versions', 'create', folder, '--version', version]
const sent = (route: string) => proxy.passed.filter(({ method, path }) => `${method} ${path}` === route)

/** Versions 1.0.0 (superseded), 1.1.0 (live), 1.2.0 and 1.3.0 (drafts). */
const stocked = async () => {
  for (const version of ['1.0.0', '1.1.0', '1.2.0', '1.3.0']) await developer.json(create(version))
  await moveThrough(world.platform, app, '1.0.0', 'submit', 'approve', 'activate')
  await moveThrough(world.platform, app, '1.1.0', 'submit', 'approve', 'activate')
}
const currents = async () => {
  const { data } = await developer.json(['versions', 'list'])
  const named = (environment: string) =>
    data.find(({ current }: { current: Record<string, boolean> }) => current[environment])?.version
  return { development: named('development'), production: named('production') }
}

test('with the two variables set, no credential file is read or written', async () => {
  const home = join(developer.home, 'app-platform')
  const created = await developer.json([...create('1.0.0'), '--notes', 'First'])
  expect(created).toMatchObject({
    version: '1.0.0',
    status: 'draft',
    revision: 1,
    notes: 'First',
    scopes: ['site:read'],
  })
  expect(created.manifest).toEqual({ name: 'Newsletter', scopes: ['site:read'] })
  expect(await Bun.file(home).exists()).toBe(false)
})

test('create reports the new development head and the version that users see', async () => {
  const first = await developer.run(create('1.0.0'))
  expect(first).toMatchObject({ exitCode: 0, stderr: '' })
  expect(first.stdout).toMatch(
    /^Created 1\.0\.0, draft number 1: newsletter-1\.0\.0\.zip, \d+ bytes, 2 files\.\nSHA-256 [0-9a-f]{64}\nThe development head is 1\.0\.0\. Users see no version yet\.\n/,
  )
  await developer.json(create('1.1.0'))
  await moveThrough(world.platform, app, '1.0.0', 'submit', 'approve', 'activate')
  const again = await developer.run(create('1.1.0'))
  expect(again.stdout).toContain('Replaced the content of the draft 1.1.0 (revision 2)')
  expect(again.stdout).toContain('The development head is 1.1.0. Users see 1.0.0.')
})

test('list shows all versions and marks the development head and the live one', async () => {
  expect((await developer.run(['versions', 'list'])).stdout).toStartWith('There are no versions yet.')
  expect(await developer.json(['versions', 'list'])).toEqual({ data: [] })
  await stocked()
  const { stdout } = await developer.run(['versions', 'list'])
  expect(stdout).toMatch(/^VERSION +STATUS +CURRENT +/)
  expect(stdout).toMatch(/^1\.3\.0 +draft +development head +1 +newsletter-1\.3\.0\.zip +\d+ bytes /m)
  expect(stdout).toMatch(/^1\.1\.0 +active +live /m)
  expect(stdout).toMatch(/^1\.0\.0 +superseded +- /m)
  expect(stdout).toEndWith('The development head is 1.3.0. Users see 1.1.0.\n')
  for (let patch = 0; patch < 120; patch += 1) {
    await world.platform.database.transaction(async (q) => {
      const number = await q.versions.takeNumber(app.id)
      const source = await q.versions.byName(app.id, '1.0.0')
      if (source === null) throw new Error('no version to copy')
      const id = `ver_copy_${app.slug}_${patch}`
      await q.versions.insert({ ...source, id, number, version: `2.0.${patch}`, status: 'draft' })
    })
  }
  expect((await developer.json(['versions', 'list'])).data.length).toBe(124)
})

test('show prints one version whole, by its name or its ID, and refuses an unknown one', async () => {
  const made = await developer.json([...create('1.0.0'), '--notes', 'First'])
  expect(await developer.json(['versions', 'show', '1.0.0'])).toEqual(made)
  expect(await developer.json(['versions', 'show', made.id])).toEqual(made)
  expect((await developer.run(['versions', 'show', '1.0.0'])).stdout).toMatch(/^artifact\.sha256 +[0-9a-f]{64}$/m)
  const unknown = await developer.run(['versions', 'show', '9.9.9'])
  expect(unknown).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: The app has no version 9.9.9. See app-platform versions list.\n',
  })
})

test('create --dry-run lists what it would upload, needs no server, sends nothing, and is what create then sends', async () => {
  const alone = newDeveloper()
  const dry = [...create('1.0.0'), '--dry-run']
  const { exitCode, stdout, stderr } = await alone.run(dry)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toMatch(
    /^FILE +SIZE\napp\.json +\d+ bytes\nindex\.html +14 bytes\n\n1\.0\.0 would be newsletter-1\.0\.0\.zip, \d+ bytes, 2 files\.\nSHA-256 [0-9a-f]{64}\nNothing was sent\.\n$/,
  )
  const told = await developer.json([...dry, '--url', proxy.url])
  expect(proxy.passed).toEqual([])
  expect(told).toMatchObject({ dryRun: true, version: '1.0.0', scopes: ['site:read'] })
  expect((await developer.json(create('1.0.0'))).artifact).toEqual(told.artifact)
  const secret = appFolder({ '.env': 'KEY=1' })
  expect((await alone.run(['versions', 'create', secret, '--version', '1.0.0', '--dry-run'])).exitCode).toBe(1)
})

test('a version whose answer is lost is created once, under one idempotency key, without an error', async () => {
  const before = (await countRows(world.server.database, 'versions'))['versions'] ?? 0
  proxy.next('POST /token', { status: 503 })
  proxy.next('POST /versions', 'answer lost', { status: 502 }, 'request lost')
  proxy.next('GET /versions', 'answer lost')
  const { exitCode, stdout } = await developer.run([...create('1.0.0'), '--url', proxy.url])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('Created 1.0.0, draft number 1')
  expect(sent('POST /versions').length).toBe(4)
  expect(new Set(sent('POST /versions').map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1)
  expect(await countRows(world.server.database, 'versions')).toEqual({ versions: before + 1 })
})

test('after 429, create waits as long as the server asks and says why', async () => {
  proxy.next('POST /versions', { status: 429, headers: { 'retry-after': '1' } })
  const startedAt = performance.now()
  const { exitCode, stderr } = await developer.run([...create('1.0.0'), '--url', proxy.url])
  expect(exitCode).toBe(0)
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1000)
  expect(stderr).toMatch(/ Trying again in 2 s\.\n$/)
})

test('create says when it is unknown whether the version was created', async () => {
  const lost = Array.from({ length: 8 }, () => 'answer lost' as const)
  proxy.next('POST /versions', ...lost)
  const { exitCode, stdout, stderr } = await developer.run([...create('1.0.0'), '--url', proxy.url, '--json'])
  expect({ exitCode, code: failureIn({ stdout, stderr }) }).toEqual({ exitCode: 1, code: 'unreachable' })
  expect(stderr).toEndWith(
    'error: The server cannot be reached. It is not known whether 1.0.0 was created: see app-platform versions list. Running the command again is safe.\n',
  )
}, 180_000)

test('a change with an unknown outcome says so, and names a rollback that goes no further when it is run again', async () => {
  await stocked()
  const through = ['--url', proxy.url, '--json']
  const page = { status: 200, body: '<h1>Bad gateway</h1>' }
  proxy.next('POST /versions/rollback', null, page)
  const lost = await developer.run(['versions', 'rollback', '--environment', 'production', '--yes', ...through])
  expect({ exitCode: lost.exitCode, code: failureIn(lost) }).toEqual({ exitCode: 1, code: 'unexpected_answer' })
  expect(lost.stderr).toContain('It is not known whether the rollback to 1.0.0 in production was made')
  const [, again = ''] = /run app-platform (versions rollback .*)\.\n$/.exec(lost.stderr) ?? []
  for (let count = 0; count < 2; count += 1) {
    await developer.run([...again.split(' '), '--yes'])
    expect((await currents()).production).toBe('1.0.0')
  }
  const drafts = (await developer.json(['versions', 'list'])).data
  const draft = drafts.find(({ version }: { version: string }) => version === '1.3.0').id
  proxy.next(`DELETE /versions/${draft}`, 'answer lost')
  const removed = await developer.run(['versions', 'delete', '1.3.0', ...through])
  expect(removed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not known whether 1.3.0 was removed') })
})

test('a flag never takes the next flag for its value', async () => {
  await stocked()
  for (const words of [
    ['--reason', '--dry-run'],
    ['--to', '--json'],
    ['--environment', '--yes'],
    ['--dry-run', '--reason', '--to=1.0.0'],
  ]) {
    const { exitCode, stderr } = await developer.run(['versions', 'rollback', ...words])
    expect({ words, exitCode, stderr }).toEqual({
      words,
      exitCode: 2,
      stderr: expect.stringContaining('has no value before'),
    })
  }
  expect((await currents()).development).toBe('1.3.0')
  const meant = await developer.json(['versions', 'rollback', '--reason=--dry-run'])
  expect(meant.rollback.reason).toBe('--dry-run')
})

test('replacing a submitted version is refused in one line with advice and the request ID', async () => {
  await developer.json(create('1.0.0'))
  await moveThrough(world.platform, app, '1.0.0', 'submit')
  const { exitCode, stdout, stderr } = await developer.run([...create('1.0.0'), '--json'])
  expect({ exitCode, code: failureIn({ stdout, stderr }) }).toEqual({ exitCode: 1, code: 'version_locked' })
  expect(stderr).toMatch(
    /^error: The version was submitted and its content cannot change\. Its status is submitted\. Upload the change under a higher version\. Request ID: req_[0-9a-f]{32}\n$/,
  )
})

test('the refusal of an unregistered scope says where to register it', async () => {
  const other = await addApp(world.platform, world.user, 'site:read')
  const source = appFolder({ 'app.json': '{"name":"N","scopes":["store:read"]}' })
  const { stderr } = await pipeline(world.server.url, other.development).run([
    'versions',
    'create',
    source,
    '--version',
    '1.0.0',
  ])
  expect(stderr).toMatch(
    /^error: The app may not ask for the scope store:read\. .+ in the console, .+ Request ID: req_/,
  )
})

test('without a login, create fails before it packs anything', async () => {
  const { exitCode, stderr } = await newDeveloper().run([...create('1.0.0'), '--url', proxy.url])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: You are not signed in to http:[^\n]+\n$/)
  const nowhere = await newDeveloper().run(['versions', 'create', '/nowhere', '--version', '1.0.0'])
  expect(nowhere.stderr).toContain('Which server?')
})

test('all local checks run before anything is sent', async () => {
  const broken = appFolder({ 'app.json': '{"name":1}' })
  const wrong: readonly (readonly [words: string[], exitCode: number])[] = [
    [['versions', 'create', folder, '--version', '1.0'], 2],
    [['versions', 'create', folder, '--version', 'v1.0.0'], 2],
    [['versions', 'create', folder], 2],
    [['versions', 'create', '--version', '1.0.0'], 2],
    [[...create('1.0.0'), '--notes', 'x'.repeat(10_001)], 2],
    [['versions', 'rollback', '--reason', 'x'.repeat(1001)], 2],
    [['versions', 'rollback', '--environment', 'staging'], 2],
    [['versions', 'create', broken, '--version', '1.0.0'], 1],
  ]
  for (const [words, exitCode] of wrong) {
    const ran = await developer.run([...words, '--url', proxy.url])
    expect({ words, exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ words, exitCode, stdout: '' })
  }
  expect(proxy.passed).toEqual([])
})

test('a page of another program at the address is reported without a stack trace or the page', async () => {
  const other = Bun.serve({ port: 0, fetch: () => new Response('<h1>canary</h1>', { status: 404 }) })
  const { exitCode, stdout, stderr } = await developer.run(['whoami', '--url', `http://127.0.0.1:${other.port}`])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^error: The answer, with status 404, is not that of an app platform\. Check the URL: .+\n$/)
  await other.stop(true)
})

test('rollback without a terminal never asks, and in production goes on only with --yes', async () => {
  await stocked()
  const preview = await developer.json(['versions', 'rollback', '--dry-run'])
  expect(preview).toMatchObject({ rollback: { id: null, dryRun: true }, version: { version: '1.2.0' } })
  expect(await currents()).toEqual({ development: '1.3.0', production: '1.1.0' })
  const { exitCode, stdout } = await developer.run(['versions', 'rollback', '--to', '1.0.0', '--reason', 'Trying'])
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(
    /^Rolled back to 1\.0\.0 in development \(rbk_[0-9a-f]{32}\)\. The development head is 1\.0\.0\. Users see 1\.1\.0\.\n$/,
  )
  const inProduction = ['versions', 'rollback', '--environment', 'production']
  const unconfirmed = await developer.run(inProduction)
  expect({ exitCode: unconfirmed.exitCode, stdout: unconfirmed.stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(unconfirmed.stderr).toContain('add --yes')
  expect(await developer.json([...inProduction, '--dry-run'])).toMatchObject({ distributionChanged: true })
  expect((await currents()).production).toBe('1.1.0')
  const live = await developer.json([...inProduction, '--yes'])
  expect(live).toMatchObject({ distributionChanged: true, version: { version: '1.0.0' } })
  expect(await currents()).toEqual({ development: '1.0.0', production: '1.0.0' })
  const { stderr } = await developer.run([...inProduction, '--to', '1.3.0', '--yes'])
  expect(stderr).toContain('Its status is draft.')
})

test('at a terminal, rollback shows the change, asks, and goes on only after yes', async () => {
  await stocked()
  const env = { ...asVariables(app.development), APP_PLATFORM_URL: world.server.url }
  for (const [typed, after] of [
    ['\r', '1.3.0'],
    ['n\r', '1.3.0'],
    ['y\r', '1.2.0'],
  ] as const) {
    const terminal = atTerminal('$AP versions rollback', env)
    await terminal.shows(`(${app.slug}) at ${world.server.url}`)
    await terminal.shows('The development head: 1.3.0 -> 1.2.0')
    await terminal.shows('What users see: 1.1.0, as before')
    await terminal.shows('Roll back? [y/N] ')
    expect((await currents()).development).toBe('1.3.0')
    terminal.type(typed)
    expect(await terminal.ended()).toBe(0)
    expect((await currents()).development).toBe(after)
  }
  const unasked = atTerminal('$AP versions rollback --yes', env)
  expect(await unasked.ended()).toBe(0)
  expect(unasked.screen()).not.toContain('[y/N]')
  expect((await currents()).development).toBe('1.1.0')
})

test('rollback goes to the version that was shown, even if another was uploaded meanwhile', async () => {
  await stocked()
  const terminal = atTerminal('$AP versions rollback', {
    ...asVariables(app.development),
    APP_PLATFORM_URL: world.server.url,
  })
  await terminal.shows('-> 1.2.0')
  await terminal.shows('[y/N] ')
  await developer.json(create('1.4.0'))
  terminal.type('y\r')
  expect(await terminal.ended()).toBe(0)
  expect((await currents()).development).toBe('1.2.0') // the version before 1.4.0 would have been 1.3.0
})

test('Ctrl-C at the question of rollback changes nothing', async () => {
  await stocked()
  const terminal = atTerminal('trap : INT; $AP versions rollback --environment production; echo "ended $?"', {
    ...asVariables(app.development),
    APP_PLATFORM_URL: world.server.url,
  })
  await terminal.shows('What users see: 1.1.0 -> 1.0.0')
  await terminal.shows('[y/N] ')
  terminal.type('\x03')
  await terminal.shows('ended 130')
  await terminal.ended()
  expect((await currents()).production).toBe('1.1.0')
})

test('an upload shows its progress, and Ctrl-C restores the terminal', async () => {
  const source = appFolder({ 'data.bin': new Uint8Array(9_000_000).map((_, index) => (index * 2_654_435_761) >>> 24) })
  const env = { ...asVariables(app.development), APP_PLATFORM_URL: proxy.url }
  const whole = atTerminal(`$AP versions create ${source} --version 1.0.0`, env)
  await whole.shows('] ')
  await whole.shows('packing')
  await whole.shows('uploading')
  await whole.shows('Created 1.0.0')
  expect(await whole.ended()).toBe(0)
  expect(whole.screen()).toContain('\r\x1b[K')

  proxy.next('POST /versions', { status: 503, headers: { 'retry-after': '60' } })
  const home = newDeveloper().home
  mkdirSync(home, { recursive: true })
  const words = `stty -a > before; $AP versions create ${source} --version 1.1.0; echo "ended $?"; stty -a > after; cmp before after && echo same`
  const stopped = atTerminal(`trap : INT; cd ${home} && ${words}`, env)
  await stopped.shows('Trying again in')
  stopped.type('\x03')
  await stopped.shows('ended 130')
  await stopped.shows('same')
  await stopped.ended()
  expect(stopped.screen()).toContain('It is not known whether 1.1.0 was created')
}, 180_000)

test('Ctrl-C while packing stops at once, and nothing is sent', async () => {
  const source = appFolder(
    Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`zeros-${index}.bin`, new Uint8Array(30_000_000)])),
  )
  const stopped = atTerminal(`trap : INT; $AP versions create ${source} --version 1.0.0; echo "ended $?"`, {
    ...asVariables(app.development),
    APP_PLATFORM_URL: proxy.url,
  })
  await stopped.shows('packing')
  stopped.type('\x03')
  await stopped.shows('ended 130')
  await stopped.ended()
  const shares = [...stopped.screen().matchAll(/ (\d+)% packing/g)].map(([, share]) => Number(share))
  expect(Math.max(...shares)).toBeLessThan(90)
  expect(proxy.passed).toEqual([])
}, 180_000)
