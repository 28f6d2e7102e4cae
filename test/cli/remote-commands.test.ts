import { beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandPlaces, remotePlaceOf } from '../../src/cli/remote-commands.ts'
import { serviceRights } from '../../src/domain/service-key.ts'
import { createServiceKey, revokeServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { expectRefusal } from '../flows/support/expect-refusal.ts'
import { send } from '../flows/support/send.ts'
import { everyCommand } from './support/commands.ts'
import { failureIn, type Run, runHere, urlOfDesk } from './support/run.ts'

const world = await worldOfFile()
const { platform, app, user } = world
const { url } = world.server

const newKey = async (rights: readonly string[] = ['operate'], networks: readonly string[] = ['127.0.0.0/8']) =>
  await createServiceKey(platform, trace, operator, { name: 'Deploys', rights, networks, expiresInDays: 30 })
const key = await newKey()

/** Runs a command on the server of the world, and on its database. */
const there = async (words: readonly string[], secret = key.secret): Promise<Run> =>
  await runHere([...words, '--url', url], { env: { APP_PLATFORM_SERVICE_KEY: secret } })
const here = async (words: readonly string[]): Promise<Run> =>
  await runHere(words, { env: { DATABASE_URL: await urlOfDesk(world.server.database) } })

/** Sends a command line as any program can. */
const post = async (words: unknown, secret = key.secret) =>
  await send(url, 'POST', '~/api/management/commands', { token: secret, body: JSON.stringify({ arguments: words }) })

let boss: Login
let appOfBoss: AppInWorld
beforeAll(async () => {
  boss = await addUser(platform, 'The operator')
  appOfBoss = await addApp(platform, boss)
  await setOperator(platform, trace, operator, { userId: boss.id, isOperator: true })
})

describe('the table of commands', () => {
  test('has each command of the program, and no other', () => {
    const table = Object.keys(commandPlaces).toSorted()
    expect(table, 'The table is in src/cli/remote-commands.ts.').toEqual(everyCommand.map(([name]) => name).toSorted())
  })

  test('gives --url to the commands that run over the network; only they name a server of operators', () => {
    const ofDevelopers = /^(login|logout|whoami|versions|installs|webhooks)\b/
    const withUrl = everyCommand.filter(([name, { options }]) => {
      const found = options.find(({ long }) => long === '--url')
      return found !== undefined && !ofDevelopers.test(name) && found.description.includes('service key')
    })
    expect(withUrl.map(([name]) => name).toSorted()).toEqual(
      Object.keys(commandPlaces)
        .filter((name) => remotePlaceOf(name) !== null)
        .toSorted(),
    )
  })

  test('leaves out everything that touches an operator, a key, a secret, a password, a file or a stopped database', () => {
    const remote = Object.keys(commandPlaces).filter((name) => remotePlaceOf(name) !== null)
    const never =
      /^(user (?!list$)|service-key|seed|serve|dev|backup|restore|recover|move|clock|migrate|mail|resource|credential (create|rotate|confirm)|webhook (add|rotate))/
    expect(remote.filter((name) => never.test(name))).toEqual([])
  })
})

describe('a command over the network', () => {
  test('prints and ends as on the machine, as text and as JSON', async () => {
    for (const words of [
      ['app', 'list'],
      ['app', 'members', app.slug],
      ['credential', 'list', app.slug],
      ['redirect', 'list', '--app', app.slug],
      ['user', 'list'],
      ['scope', 'list', '--limit', '5'],
      ['endpoint', 'list', app.slug],
      ['review', 'list', app.slug],
      ['install', 'list'],
    ]) {
      for (const more of [[], ['--json']]) {
        const [local, remote] = [await here([...words, ...more]), await there([...words, ...more])]
        // Each of the two presents its credentials; only the key leaves a trace in what is listed.
        expect([words, remote]).toEqual([words, local])
        expect(remote.exitCode).toBe(0)
      }
    }
  })

  test('changes the platform with the key as its actor, and is recorded before it runs', async () => {
    const { slug } = await addApp(platform, user)
    const { stdout, exitCode } = await there(['app', 'suspend', slug, '--json'])
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { slug, status: 'suspended' }])
    const events = (await auditEvents(platform)).filter(({ actorId }) => actorId === key.id).slice(-2)
    expect(events.map(({ action, actorKind, outcome, detail }) => [action, actorKind, outcome, detail])).toEqual([
      ['command.run', 'system', 'done', '{"command":"app suspend"}'],
      ['app.suspended', 'system', 'done', null],
    ])
    expect(new Set(events.map(({ requestId, address }) => `${requestId} ${address}`)).size).toBe(1)
    const uri = 'https://example.com/callback?next=--url'
    const words = ['redirect', 'add', slug, uri, '--environment=production', '--json']
    expect(JSON.parse((await there(words)).stdout).redirectUris.production).toContain(uri)
  })

  test('fails as on the machine, with the request ID in addition', async () => {
    for (const words of [
      ['app', 'suspend', 'nobody'],
      ['review', 'approve', app.slug, '9.9.9'],
      ['credential', 'revoke', 'crd_none'],
      ['endpoint', 'resend', 'whk_none', '--failed'],
    ]) {
      const [local, remote] = [await here([...words, '--json']), await there([...words, '--json'])]
      expect([words, remote.exitCode, failureIn(remote)]).toEqual([words, 1, failureIn(local)])
      expect(remote.stderr.replace(/ Request ID: req_[0-9a-f]{32}\n$/, '\n')).toBe(local.stderr)
    }
  })

  test('is refused here when it is called wrongly, and sends no word of it', async () => {
    for (const words of [
      ['app', 'suspend'],
      ['app', 'list', '--color'],
      ['audit', 'list', '--limit', '0'],
    ]) {
      const [local, remote] = [await here(words), await there(words)]
      expect([words, remote]).toEqual([words, local])
      expect(remote.exitCode).toBe(2)
    }
  })

  test('purges and checks the database of the server, and reads no file', async () => {
    expect((await there(['purge', '--json'])).exitCode).toBe(0)
    const { exitCode, stdout } = await there(['check', '--json'])
    expect([exitCode, JSON.parse(stdout)]).toEqual([0, { ok: true, problems: [] }])
    const file = await there(['check', '/etc/passwd'])
    expect([file.exitCode, file.stdout]).toEqual([2, ''])
  })

  test('takes the key from a file, and needs a key, an origin and no database', async () => {
    const file = join(temporaryFolder(), 'key')
    writeFileSync(file, `${key.secret}\n`)
    chmodSync(file, 0o600)
    const words = ['app', 'list', '--url', url]
    expect((await runHere(words, { env: { APP_PLATFORM_SERVICE_KEY_FILE: file } })).exitCode).toBe(0)
    expect((await runHere(words)).stderr).toContain('APP_PLATFORM_SERVICE_KEY')
    expect((await runHere(words)).exitCode).toBe(2)
    const env = { APP_PLATFORM_SERVICE_KEY: key.secret }
    for (const wrong of [
      ['app', 'list', '--url', 'apps.example.com'],
      ['app', 'list', '--url', 'http://apps.example.com'],
      [...words, '--database', 'file:./other.db'],
    ])
      expect((await runHere(wrong, { env })).exitCode).toBe(2)
    const { exitCode, stderr } = await runHere(words, { env: { APP_PLATFORM_SERVICE_KEY: 'apok_wrong!' } })
    expect([exitCode, stderr.includes('wrong!')]).toEqual([2, false])
  })

  test('without --url works on the database here, whatever key and server the environment names', async () => {
    const { exitCode, stderr } = await runHere(['app', 'list'], {
      env: { APP_PLATFORM_SERVICE_KEY: key.secret, APP_PLATFORM_URL: url, DATABASE_URL: 'file:./nothing-here.db' },
    })
    expect([exitCode, stderr]).toMatchObject([1, expect.stringContaining('There is no database')])
  })
})

describe('no service key runs', () => {
  const local = Object.keys(commandPlaces).filter((name) => remotePlaceOf(name) === null)

  test.each(local)('%s', async (name) => {
    expectRefusal(await post([...name.split(' '), '--help']), 'right_missing')
  })

  test('a command that is written in another way', async () => {
    for (const words of [
      ['user'],
      ['user list'],
      ['USER', 'LIST'],
      ['--json', 'user', 'list'],
      ['app', '--json', 'list'],
      ['help', 'user', 'create'],
      ['app', 'help', 'list'],
      ['user', 'help', 'list'],
      ['--', 'user', 'create'],
      ['--version'],
      ['completion-values', 'apps'],
      ['constructor'],
      ['__proto__', 'list'],
      [''],
    ])
      expectRefusal(await post(words), 'right_missing')
    for (const words of [[], 'app list', [1], null, Array(101).fill('app')])
      expectRefusal(await post(words), 'invalid_request')
  })

  test('a command on another database, file or server, or with the user of a folder', async () => {
    const before = { ...process.env }
    for (const more of [
      ['--database', '/etc/passwd'],
      ['--database=postgres://a:b@192.0.2.1/x'],
      ['--url', 'https://example.com'],
      ['--insecure-http'],
    ]) {
      const { status, body } = await post(['app', 'list', ...more])
      expect([status, body.exitCode, body.stdout]).toEqual([200, 2, ''])
      expect(body.stderr).not.toContain('a:b')
    }
    expect(process.env).toEqual(before)
    const { body } = await post(['check', '--', '/etc/passwd'])
    expect([body.exitCode, body.stdout]).toEqual([2, ''])
  })

  test('anything without the right, and is told so as for every right', async () => {
    const without = await newKey(serviceRights)
    const answer = await post(['app', 'list'], without.secret)
    expectRefusal(answer, 'right_missing')
    expect(answer.body.error.details).toEqual({ right: 'operate' })
    const told = await there(['app', 'list'], without.secret)
    expect([told.exitCode, told.stdout]).toEqual([1, ''])
    const elsewhere = await newKey(['operate'], ['203.0.113.0/24'])
    expectRefusal(await post(['app', 'list'], elsewhere.secret), 'invalid_token')
    const revoked = await newKey()
    await revokeServiceKey(platform, trace, operator, revoked.id)
    const refused = await there(['app', 'list', '--json'], revoked.secret)
    expect([refused.exitCode, failureIn(refused)]).toEqual([1, 'invalid_token'])
    const refusals = (await auditEvents(platform)).filter(({ outcome }) => outcome === 'refused')
    expect(refusals.some(({ actorId, action }) => actorId === without.id && action === 'service_key.use')).toBe(true)
    // The right gives no other one.
    expectRefusal(await send(url, 'GET', '~/api/management/users', { token: key.secret }), 'right_missing')
  })

  test('a change that names an operator or gives away an app of one, in whatever spelling', async () => {
    const spellings = [boss.email, boss.email.toUpperCase()]
    const changes = spellings.flatMap((email) => [
      ['app', 'create', '--owner', email, '--name', 'Own', '--slug', 'own', '--scopes', 'site:read'],
      ['app', 'transfer', app.slug, `--to=${email}`],
      ['app', 'member', 'add', app.slug, '--role', 'owner', '--', email],
      ['install', 'create', app.slug, '--user', email, '--kind', 'website', '--resource', 'my-site'],
    ])
    const ofBoss = [appOfBoss.slug, appOfBoss.id].flatMap((slug) => [
      ['app', 'transfer', slug, '--to', user.email],
      ['app', 'delete', slug, '--yes'],
      ['app', 'member', 'add', slug, user.email, '--role', 'owner'],
      ['app', 'member', 'remove', slug, user.email],
    ])
    const before = (await here(['app', 'list', '--json'])).stdout
    for (const words of [...changes, ...ofBoss]) {
      const { status, body } = await post([...words, '--json'])
      const code = status === 200 ? JSON.parse(body.stdout).error.code : body.error.code
      expect([words, code]).toEqual([words, 'operator_protected'])
    }
    expect((await here(['app', 'list', '--json'])).stdout).toBe(before)
    const events = (await auditEvents(platform)).filter(({ reason }) => reason === 'operator_protected')
    expect(events.length).toBeGreaterThanOrEqual(changes.length + ofBoss.length)
    expect(events.every(({ detail, actorId }) => actorId === key.id && !detail?.includes('@'))).toBe(true)
    // What no account is about is possible for any app.
    expect((await post(['app', 'suspend', appOfBoss.slug])).body.exitCode).toBe(0)
  })

  test('anything that shows a secret or a hash of one', async () => {
    const texts = await Promise.all(
      Object.entries(commandPlaces)
        .filter(([, place]) => place === 'reads')
        .map(
          async ([name]) => (await post([...name.split(' '), ...(/members|list/.test(name) ? ['--json'] : [])])).text,
        ),
    )
    expect(texts.join('\n')).not.toMatch(/ap(s_dev|s_live|ok|at|ua|ur|co|us|es|ic|sr|pl|mi)_[0-9A-Za-z]{20}|\$2[aby]\$/)
  })
})

describe('a key that may operate', () => {
  const asked = { name: 'Deploys', rights: ['operate', 'audit:read'], networks: ['192.0.2.7'], expiresInDays: 30 }
  const make = async (input: Partial<typeof asked> | { readonly expiresInDays: null }) =>
    await createServiceKey(platform, trace, operator, { ...asked, ...input })

  test('names narrow networks and an end', async () => {
    for (const networks of [['10.0.0.0/8'], ['fd00::/8'], ['2001:db8::/32', '192.0.2.7'], ['::ffff:10.0.0.0/104']])
      expect((await make({ networks })).rights).toEqual(['audit:read', 'operate'])
    for (const networks of [
      [],
      ['0.0.0.0/0'],
      ['::/0'],
      ['192.0.2.7', '0.0.0.0/0'],
      ['128.0.0.0/1'],
      ['8.0.0.0/7'],
      ['::ffff:0:0/96'],
      ['::/80'],
      ['::/8'],
      ['2000::/3'],
    ])
      await expect(make({ networks })).rejects.toMatchObject({ code: 'invalid_request', facts: { param: 'networks' } })
    await expect(make({ expiresInDays: null })).rejects.toMatchObject({ facts: { param: 'expiresInDays' } })
    // Keys of the builder go on without.
    const plain = { ...asked, rights: ['audit:read'], networks: [], expiresInDays: null }
    expect((await createServiceKey(platform, trace, operator, plain)).networks).toEqual([])
  })
})
