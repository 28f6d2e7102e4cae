import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { keepLogin } from '../../src/cli/developer/credential-file.ts'
import { createCredential, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { addScope } from '../../src/operations/scopes/scopes.ts'
import { startFlakyProxy } from '../client/support/flaky-proxy.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, type AppInWorld } from '../support/world.ts'
import { asVariables, newDeveloper } from './support/developer.ts'
import { atTerminal } from './support/terminal.ts'
import { failureIn } from './support/run.ts'

const world = await worldOfFile()

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const at = () => ['--url', world.server.url]

test('login checks the credentials and saves them in a private file, which later commands use', async () => {
  const developer = newDeveloper()
  const env = asVariables(world.app.development)
  const told = await developer.json(['login', ...at()], env)
  expect(told).toEqual({
    url: world.server.url,
    clientId: world.app.development.clientId,
    name: 'Newsletter',
    slug: world.app.slug,
    environment: 'development',
  })
  const [file = '', ...others] = readdirSync(developer.kept)
  expect(others).toEqual([])
  expect([modeOf(developer.kept), modeOf(join(developer.kept, file))]).toEqual(['700', '600'])
  expect(await developer.json(['whoami'])).toMatchObject({
    appId: world.app.id,
    environment: 'development',
    url: world.server.url,
    credentials: 'login',
  })
  expect(await developer.json(['whoami', ...at()], env)).toMatchObject({ credentials: 'environment' })
})

test('login makes an existing credential folder private', async () => {
  const developer = newDeveloper()
  mkdirSync(developer.kept, { recursive: true, mode: 0o777 })
  chmodSync(developer.kept, 0o777)
  await developer.json(['login', ...at()], asVariables(world.app.development))
  expect(modeOf(developer.kept)).toBe('700')
})

test('login says whose credentials it replaces', async () => {
  const developer = newDeveloper()
  const other = await addApp(world.platform, world.user)
  const login = async (app: AppInWorld) =>
    (await developer.run(['login', ...at()], asVariables(app.development))).stdout
  expect(await login(world.app)).not.toContain('replaces')
  expect(await login(other)).toContain(`It replaces those of ${world.app.development.clientId}.`)
  expect(await login(other)).not.toContain('replaces')
})

test('login asks for the client ID and the secret, and never shows the secret', async () => {
  const developer = newDeveloper()
  const { clientId, clientSecret } = world.app.development
  const terminal = atTerminal(`$AP login --url ${world.server.url}`, { XDG_CONFIG_HOME: developer.home })
  await terminal.shows('Client ID: ')
  terminal.type(`${clientId}\r`)
  await terminal.shows('Client secret (not shown): ')
  terminal.type(`${clientSecret.slice(0, 20)}x\x7f${clientSecret.slice(20)}\r`) // with a typing error that is corrected
  expect(await terminal.ended()).toBe(0)
  expect(terminal.screen()).toContain(clientId)
  expect(terminal.screen()).toContain('Signed in to')
  expect(terminal.screen()).not.toContain(clientSecret.slice(8, 20))
  expect(await developer.json(['whoami'])).toMatchObject({ credentials: 'login' })
})

test('a client ID and secret pasted together are accepted, and the secret is not shown', async () => {
  const developer = newDeveloper()
  const { clientId, clientSecret } = world.app.development
  const terminal = atTerminal(`$AP login --url ${world.server.url}`, { XDG_CONFIG_HOME: developer.home })
  await terminal.shows('Client ID: ')
  terminal.type(`${clientId}\r${clientSecret}\r`)
  expect(await terminal.ended()).toBe(0)
  expect(terminal.screen()).not.toContain(clientSecret.slice(8, 20))
})

test.each([
  ['Ctrl-C', 'aps_dev_half\x03', 130],
  ['Ctrl-D', '\x04', 1],
])('%s at the question keeps nothing and leaves the terminal as it was', async (_, keys, exitCode) => {
  const { home } = newDeveloper()
  mkdirSync(home, { recursive: true })
  const words = `stty -a > before; $AP login --url ${world.server.url}; echo "ended $?"; stty -a > after; cmp before after && echo same`
  const terminal = atTerminal(`trap : INT; cd ${home} && ${words}`, { XDG_CONFIG_HOME: home })
  await terminal.shows('Client ID: ')
  terminal.type('apc_dev_x\r')
  await terminal.shows('Client secret (not shown): ')
  terminal.type(keys)
  await terminal.shows(`ended ${exitCode}`)
  await terminal.shows('same')
  await terminal.ended()
  expect(terminal.screen()).not.toContain('half')
  expect(readdirSync(home).toSorted()).toEqual(['after', 'before'])
})

test('an interrupted question restores the terminal', async () => {
  const { home } = newDeveloper()
  mkdirSync(home, { recursive: true })
  const login = `sh -c 'echo $$ > pid; exec $AP login --url ${world.server.url}'`
  const words = `stty -a > before; ${login}; echo "ended $?"; stty -a > after; cmp before after && echo same`
  const terminal = atTerminal(`cd ${home} && ${words}`, { XDG_CONFIG_HOME: home })
  await terminal.shows('Client ID: ')
  process.kill(Number(readFileSync(join(home, 'pid'), 'utf8')), 'SIGTERM')
  await terminal.shows('ended 143')
  await terminal.shows('same')
  await terminal.ended()
})

test('refused credentials are not saved, and one line says what to do and names the request ID', async () => {
  const developer = newDeveloper()
  const { clientId, clientSecret } = world.app.development
  const wrong = asVariables({ clientId, clientSecret: `${clientSecret.slice(0, -1)}_` })
  const { exitCode, stdout, stderr } = await developer.run(['login', ...at(), '--json'], wrong)
  expect({ exitCode, code: failureIn({ stdout, stderr }) }).toEqual({ exitCode: 1, code: 'invalid_client' })
  expect(stderr).toMatch(
    /^error: The client credentials are not valid\. Check the client ID .+ Request ID: req_[0-9a-f]{32}\n$/,
  )
  expect(stderr).not.toContain(clientSecret.slice(8, 20))
  expect(await Bun.file(developer.kept).exists()).toBe(false)
})

test('production credentials are refused before they are sent to the server', async () => {
  const developer = newDeveloper()
  const proxy = await startFlakyProxy(world.server.url)
  const { exitCode, stderr } = await developer.run(['login', '--url', proxy.url], asVariables(world.app.production))
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: These are production credentials, and nothing was saved\. .+\n$/)
  expect(readdirSync(join(developer.home, '..'))).toEqual([])
  expect(proxy.passed).toEqual([])
  proxy.close()
})

test('without a terminal, login names the variables it needs instead of asking', async () => {
  const { exitCode, stderr } = await newDeveloper().run(['login', ...at()])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('APP_PLATFORM_CLIENT_ID and APP_PLATFORM_CLIENT_SECRET')
})

test('all wrong settings are reported at once, without their values', async () => {
  const developer = newDeveloper()
  const cases: readonly (readonly [env: Record<string, string>, words: string[], says: RegExp[]])[] = [
    [
      { APP_PLATFORM_CLIENT_ID: 'x1x', APP_PLATFORM_URL: 'y1y' },
      [],
      [/CLIENT_SECRET is missing/, /APP_PLATFORM_URL must/],
    ],
    [{ APP_PLATFORM_CLIENT_ID: 'x1x', APP_PLATFORM_CLIENT_SECRET: '' }, at(), [/CLIENT_SECRET is empty/]],
    [{ APP_PLATFORM_CLIENT_ID: 'x1x', APP_PLATFORM_CLIENT_SECRET: 'z1z' }, [], [/no server/]],
    [
      { APP_PLATFORM_CLIENT_ID: 'x1x', APP_PLATFORM_CLIENT_SECRET: 'z1z\nA=y1y' },
      at(),
      [/CLIENT_SECRET has a line break/],
    ],
    [
      {
        APP_PLATFORM_CLIENT_ID: 'x1\u0085x',
        APP_PLATFORM_CLIENT_SECRET: 'z1z',
        APP_PLATFORM_URL: 'https://y1y\t.example',
      },
      [],
      [/CLIENT_ID has a line break/, /APP_PLATFORM_URL has a line break/],
    ],
    [{ APP_PLATFORM_URL: ' ' }, [], [/APP_PLATFORM_URL is empty/]],
    [{}, ['--url', 'http://apps.y1y.example'], [/plain HTTP/]],
    [{}, ['--url', 'http://y1y.localhost'], [/plain HTTP/]],
    [{}, ['--url', 'https://user:x1x@apps.example'], [/must be an origin/]],
    [{}, [], [/Which server/]],
  ]
  for (const [env, words, says] of cases) {
    const { exitCode, stdout, stderr } = await developer.run(['whoami', ...words], env)
    expect({ env, words, exitCode, stdout }).toEqual({ env, words, exitCode: 2, stdout: '' })
    for (const pattern of says) expect(stderr).toMatch(pattern)
    for (const value of ['x1x', 'y1y', 'z1z']) expect(stderr).not.toContain(value)
  }
})

test('an unknown flag with a secret is refused without repeating the secret', async () => {
  for (const words of [['--client-secret=aps_dev_canary'], ['--client-secret', 'aps_dev_canary'], ['aps_dev_canary']]) {
    const { exitCode, stderr } = await newDeveloper().run(['login', ...at(), ...words])
    expect(exitCode).toBe(2)
    expect(stderr).toStartWith('error: ')
    expect(stderr).not.toContain('canary')
  }
})

test('a folder in the place of a saved login is named by every command that meets it', async () => {
  const developer = newDeveloper()
  await developer.json(['login', ...at()], asVariables(world.app.development))
  const [name = ''] = readdirSync(developer.kept)
  const place = join(developer.kept, name)
  rmSync(place)
  mkdirSync(place)
  const logins = { login: asVariables(world.app.development), logout: {}, whoami: {} }
  for (const [command, env] of Object.entries(logins)) {
    const { exitCode, stderr } = await developer.run([command, ...at()], env)
    expect({ command, exitCode }).toEqual({ command, exitCode: 1 })
    expect(stderr).toStartWith(`error: ${place} is `)
  }
})

test('a saved login that others can read is refused', async () => {
  const developer = newDeveloper()
  await developer.json(['login', ...at()], asVariables(world.app.development))
  const [name = ''] = readdirSync(developer.kept)
  chmodSync(join(developer.kept, name), 0o640)
  const { exitCode, stderr } = await developer.run(['whoami'])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: Other users of this machine can read [^\n]+\n$/)
})

test('a saved login that is broken or belongs to another server is refused', async () => {
  const developer = newDeveloper()
  await developer.json(['login', ...at()], asVariables(world.app.development))
  const [name = ''] = readdirSync(developer.kept)
  const file = join(developer.kept, name)
  const kept = JSON.parse(readFileSync(file, 'utf8'))
  for (const content of ['', '{', 'null', '[]', JSON.stringify({ ...kept, url: 'https://other.example' })]) {
    writeFileSync(file, content)
    const { exitCode, stderr } = await developer.run(['whoami'])
    expect({ content, exitCode }).toEqual({ content, exitCode: 1 })
    expect(stderr).toMatch(/^error: .+ was not written by app-platform login\. .+\n$/)
  }
})

test('a login that cannot be saved leaves no part of the secret on disk', () => {
  const folder = temporaryFolder()
  const login = { url: 'https://a.example', ...world.app.development, scope: 'site:read' }
  const file = keepLogin(folder, login)
  rmSync(file)
  mkdirSync(join(file, 'in-the-way'), { recursive: true })
  expect(() => keepLogin(folder, login)).toThrow()
  expect(readdirSync(folder)).toEqual([basename(file)])
})

test('files whose name is not that of a server are not logins', async () => {
  const developer = newDeveloper()
  await developer.json(['login', ...at()], asVariables(world.app.development))
  for (const name of ['https%3A%2F%2F%zz', 'https%3A%2F%2F%1B%5D0%3Bx%07', 'https%3A%2F%2Fa.example%2Fpath', 'notes'])
    writeFileSync(join(developer.kept, `${name}.json`), '{}')
  expect((await developer.json(['whoami'])).url).toBe(world.server.url)
})

test('logout removes the login of one server, and says if there was none', async () => {
  const developer = newDeveloper()
  await developer.json(['login', ...at()], asVariables(world.app.development))
  const { home } = developer
  const other = join(home, 'app-platform', `${encodeURIComponent('https://other.example')}.json`)
  writeFileSync(other, '{}', { mode: 0o600 })
  const unclear = await developer.run(['whoami'])
  expect(unclear.exitCode).toBe(2)
  expect(unclear.stderr).toContain('https://other.example')
  expect(await developer.json(['logout', ...at()])).toEqual({ url: world.server.url, removed: true })
  expect(await developer.json(['logout', ...at()])).toEqual({ url: world.server.url, removed: false })
  expect(readdirSync(developer.kept)).toEqual([`${encodeURIComponent('https://other.example')}.json`])
})

test('login works with any registered app scope, and without one names the scopes to register', async () => {
  const { platform, user } = world
  const developer = newDeveloper()
  const storeOnly = await addApp(platform, user, 'profile:read store:read')
  expect(await developer.json(['login', ...at()], asVariables(storeOnly.development))).toMatchObject({
    slug: storeOnly.slug,
  })
  expect(await developer.json(['whoami'])).toMatchObject({ scope: 'store:read' })
  const own = { name: 'pages:read', usableBy: 'both', text: 'Read your pages', isRestricted: false } as const
  await addScope(platform, trace, operator, own)
  const ofTheBuilder = await addApp(platform, user, 'pages:read')
  const signedIn = await developer.json(['login', ...at()], asVariables(ofTheBuilder.development))
  expect(signedIn).toMatchObject({ slug: ofTheBuilder.slug })
  expect(await developer.json(['whoami'])).toMatchObject({ scope: 'pages:read' })
  const usersOnly = await addApp(platform, user, 'profile:read')
  const { exitCode, stderr } = await developer.run(['whoami', ...at()], asVariables(usersOnly.development))
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: The app has no scope that works without a user\. .+ such as site:read\.\n$/)
})

test('a suspended app and a revoked secret have different messages', async () => {
  const { platform, user } = world
  const app = await addApp(platform, user)
  const developer = newDeveloper(asVariables(app.development))
  await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'suspended' })
  expect((await developer.run(['whoami', ...at()])).stderr).toContain('Ask the operator')
  const other = await addApp(platform, user)
  const more = await createCredential(platform, trace, operator, {
    slug: other.slug,
    environment: 'development',
    label: null,
  })
  await revokeCredential(platform, trace, operator, more.id)
  expect((await newDeveloper(asVariables(more)).run(['whoami', ...at()])).stderr).toContain(
    'run app-platform login again',
  )
})
