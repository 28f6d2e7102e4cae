import { beforeAll, describe, expect, test } from 'bun:test'
import {
  addApp,
  addCredential,
  addUser,
  type Desk,
  failureIn,
  importLines,
  isoTime,
  openDesk,
  password,
} from './support/run.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
  await addUser(desk)
  await addApp(desk)
})

const actionsOf = async (target: string): Promise<string[]> => {
  const { data } = await desk.json(['audit', 'list', '--limit', '10000'])
  return data
    .filter((event: { target: string }) => event.target === target)
    .map((event: { action: string }) => event.action)
}

const createUser = (email: string, name: string) =>
  ['user', 'create', '--email', email, '--name', name, '--password-stdin', '--json'] // prettier-ignore

describe('user', () => {
  test('create reads the password from stdin and does not print it', async () => {
    const words = ['user', 'create', '--email', 'Grace@Example.com', '--name', 'Grace', '--password-stdin', '--json']
    const { exitCode, stdout, stderr } = await desk.run(words, { stdin: `${password}\n` })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const user = JSON.parse(stdout)
    expect(user).toEqual({
      id: expect.stringMatching(/^usr_[0-9a-f]{32}$/),
      email: 'grace@example.com',
      name: 'Grace',
      operator: false,
      status: 'active',
      suspendedAt: null,
      externalId: null,
      createdAt: expect.stringMatching(isoTime),
      updatedAt: expect.stringMatching(isoTime),
    })
    expect(await actionsOf(user.id)).toEqual(['user.created'])
  })

  test('create prints only a generated password, once', async () => {
    const user = await desk.json([
      'user',
      'create',
      '--email',
      'gen@example.com',
      '--name',
      'G',
      '--generate-password',
      '--operator',
    ])
    expect(user.password).toMatch(/^[0-9A-Za-z]{22}$/)
    expect(user.operator).toBe(true)
    expect((await desk.run(['audit', 'list', '--json'])).stdout).not.toContain(user.password)
    const renamed = await desk.json(['user', 'rename', 'gen@example.com', '--name', 'Gen'])
    expect(Object.keys(renamed)).not.toContain('password')
    expect((await desk.run(['user', 'disable', 'gen@example.com'])).stderr).toContain('This is the last operator')
  })

  test('an unusable password, a bad name and a bad or taken address are refused, and nothing is created', async () => {
    const refused: readonly (readonly [email: string, name: string, stdin: string | Uint8Array])[] = [
      ['new@example.com', 'New', 'short'],
      ['new@example.com', 'New', 'Sunshine1'],
      ['new@example.com', 'New', ''],
      ['new@example.com', 'New', 'x'.repeat(73)],
      ['new@example.com', 'New', 'x'.repeat(100_000)],
      ['new@example.com', 'New', 'with\0nul and more'],
      ['new@example.com', 'New', 'two lines\nof a file\n'],
      ['new@example.com', 'New', Uint8Array.from([0xff, 0xfe, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20])],
      ['new.example.com', 'New', password],
      ['new@example.com', 'New\u001b[2J', password],
      ['ADA@example.com', 'New', password],
    ]
    for (const [email, name, stdin] of refused) {
      const { exitCode, stdout, stderr } = await desk.run(createUser(email, name), { stdin })
      expect({ email, name, exitCode }).toEqual({ email, name, exitCode: 1 })
      failureIn({ stdout, stderr })
      expect(stderr).toMatch(/^error: [^\n]+\.\n$/)
    }
    expect((await desk.run(['user', 'disable', 'new@example.com'])).exitCode).toBe(1)
  })

  test('disable and enable change the status, with one audit event each', async () => {
    const { id } = await addUser(desk, 'turn@example.com')
    expect((await desk.json(['user', 'disable', 'turn@example.com'])).status).toBe('disabled')
    expect((await desk.json(['user', 'disable', 'turn@example.com'])).status).toBe('disabled')
    expect((await desk.json(['user', 'enable', 'TURN@example.com'])).status).toBe('active')
    expect(await actionsOf(id)).toEqual(['user.created', 'user.disabled', 'user.enabled'])
  })
})

test('user list shows all users by address, without password hashes', async () => {
  const own = await openDesk()
  const [grace, ada] = [await addUser(own, 'grace@example.com'), await addUser(own, 'ada@example.com')]
  const { stdout } = await own.run(['user', 'list', '--json'])
  expect(JSON.parse(stdout)).toEqual({ data: [ada, grace] })
  expect(stdout).not.toMatch(/passwordHash|correct horse|\$2/)
})

describe('app', () => {
  test('create prints the app with one client ID per environment', async () => {
    const app = await addApp(desk, 'answers', 'store:read site:read site:read')
    expect(app).toEqual({
      id: expect.stringMatching(/^app_[0-9a-f]{32}$/),
      slug: 'answers',
      name: 'Newsletter',
      status: 'active',
      publisher: null,
      isListed: true,
      scopes: ['site:read', 'store:read'],
      givenScopes: [],
      ownerId: expect.stringMatching(/^usr_/),
      clientIds: {
        development: expect.stringMatching(/^apc_dev_[0-9A-Za-z]{22}$/),
        production: expect.stringMatching(/^apc_live_[0-9A-Za-z]{22}$/),
      },
      deletedAt: null,
      createdAt: expect.stringMatching(isoTime),
      updatedAt: expect.stringMatching(isoTime),
    })
  })

  test('suspend and activate change the status, which list shows', async () => {
    await addApp(desk, 'switch')
    expect((await desk.json(['app', 'suspend', 'switch'])).status).toBe('suspended')
    const { data } = await desk.json(['app', 'list'])
    expect(data.find((app: { slug: string }) => app.slug === 'switch').status).toBe('suspended')
    expect((await desk.json(['app', 'activate', 'switch'])).status).toBe('active')
    expect((await desk.run(['app', 'suspend', 'no-such-app'])).stderr).toBe(
      'error: There is no app with this slug or ID.\n',
    )
  })
})

describe('credential', () => {
  test('create prints the secret once, and list never does', async () => {
    await addApp(desk, 'secrets')
    const made = await desk.json([
      'credential',
      'create',
      'secrets',
      '--environment',
      'production',
      '--label',
      'Server',
    ])
    expect(made).toEqual({
      id: expect.stringMatching(/^crd_[0-9a-f]{32}$/),
      clientId: expect.stringMatching(/^apc_live_/),
      clientSecret: expect.stringMatching(/^aps_live_[0-9A-Za-z]{71}$/),
      environment: 'production',
      label: 'Server',
      status: 'live',
      createdAt: expect.stringMatching(isoTime),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    })
    const { stdout } = await desk.run(['credential', 'list', 'secrets', '--json'])
    const { clientSecret, ...shownLater } = made
    expect(JSON.parse(stdout).data).toEqual([shownLater])
    expect(stdout).not.toContain(clientSecret)
  })

  test('rotate creates a secret and ends the old one after the grace period; a third live one is refused', async () => {
    await addApp(desk, 'rotate')
    const first = await addCredential(desk, 'rotate')
    const second = await desk.json(['credential', 'rotate', first.clientId, '--grace-hours', '1'])
    expect(second.clientSecret).toMatch(/^aps_dev_/)
    expect(second.clientSecret).not.toBe(first.clientSecret)
    const third = await desk.run(['credential', 'rotate', first.clientId, '--json'])
    expect([third.exitCode, failureIn(third)]).toEqual([1, 'too_many_secrets'])
    expect(third).toMatchObject({
      stderr: 'error: This environment already has two live secrets.\n',
    })
    const [old] = (await desk.json(['credential', 'list', 'rotate'])).data
    expect(Date.parse(old.expiresAt) - Date.parse(second.createdAt)).toBe(3_600_000)
  })

  test('revoke ends a secret at once and for good', async () => {
    await addApp(desk, 'revoke')
    const { id } = await addCredential(desk, 'revoke')
    const ended = await desk.json(['credential', 'revoke', id])
    expect(ended.status).toBe('ended')
    expect((await desk.json(['credential', 'revoke', id])).revokedAt).toBe(ended.revokedAt)
    expect(await actionsOf(id)).toEqual(['credential.created', 'credential.revoked'])
    expect((await desk.run(['credential', 'revoke', 'crd_nope'])).exitCode).toBe(1)
  })
})

describe('redirect', () => {
  test('add and remove print the redirect URIs of both environments', async () => {
    await addApp(desk, 'urls')
    const uri = 'https://urls.example/callback?x=1'
    const added = await desk.json(['redirect', 'add', 'urls', '--environment', 'development', uri])
    expect(added).toEqual({ redirectUris: { development: [uri], production: [] } })
    expect(await desk.json(['redirect', 'add', 'urls', '--environment', 'development', uri])).toEqual(added)
    expect(await desk.json(['redirect', 'list', 'urls'])).toEqual(added)
    expect((await desk.run(['redirect', 'list', 'no-such-app'])).stderr).toBe(
      'error: There is no app with this slug or ID.\n',
    )
    const removed = await desk.json(['redirect', 'remove', 'urls', '--environment', 'development', uri])
    expect(removed).toEqual({ redirectUris: { development: [], production: [] } })
  })
})

describe('install', () => {
  const install = ['install', 'create', 'newsletter', '--user', 'ada@example.com', '--kind', 'website', '--resource']

  test('is pending, then approved and active, then inactive, and refuses any other step', async () => {
    await importLines(desk, [{ owner: 'ada@example.com', kind: 'site', name: 'One', slug: 'one', status: 'draft' }])
    const made = await desk.json([...install, 'one'])
    expect(made).toMatchObject({ kind: 'website', resource: 'one', approval: 'pending', state: 'inactive' })
    expect(made.id).toMatch(/^ins_[0-9a-f]{32}$/)
    expect((await desk.run([...install, 'one', '--json'])).exitCode).toBe(1)
    expect((await desk.run(['install', 'deactivate', made.id])).exitCode).toBe(1)
    expect(await desk.json(['install', 'approve', made.id])).toMatchObject({ approval: 'approved', state: 'active' })
    const refused = await desk.run(['install', 'reject', made.id, '--json'])
    expect([refused.exitCode, failureIn(refused)]).toEqual([1, 'invalid_request'])
    expect(refused).toMatchObject({
      stderr: 'error: Only an install that is pending and inactive can do this.\n',
    })
    expect(await desk.json(['install', 'deactivate', made.id])).toMatchObject({
      approval: 'approved',
      state: 'inactive',
    })
    expect(await actionsOf(made.id)).toEqual(['install.created', 'install.approved', 'install.deactivated'])
  })

  test('can be rejected while pending, and created again afterwards', async () => {
    await importLines(desk, [{ owner: 'ada@example.com', kind: 'site', name: 'Two', slug: 'two', status: 'draft' }])
    const { id } = await desk.json([...install, 'two'])
    expect(await desk.json(['install', 'reject', id])).toMatchObject({ approval: 'rejected', state: 'inactive' })
    expect((await desk.json([...install, 'two'])).id).not.toBe(id)
  })

  test('is listed for all apps or for one', async () => {
    await importLines(desk, [
      { owner: 'ada@example.com', kind: 'store', name: 'Three', slug: 'three', status: 'draft' },
    ])
    await addApp(desk, 'shop')
    const made = await desk.json([
      'install',
      'create',
      'shop',
      '--user',
      'ada@example.com',
      '--kind',
      'store',
      '--resource',
      'three',
    ])
    const listed = { ...made, app: 'shop', user: 'ada@example.com' }
    expect(await desk.json(['install', 'list', '--app', 'shop'])).toEqual({ data: [listed] })
    expect(await desk.json(['install', 'list', 'shop'])).toEqual({ data: [listed] })
    expect((await desk.json(['install', 'list'])).data.at(-1)).toEqual(listed)
    await addApp(desk, 'unused')
    expect((await desk.json(['install', 'list', '--app', 'unused'])).data).toEqual([])
    expect((await desk.run(['install', 'list', '--app', 'no-such-app'])).exitCode).toBe(1)
  })

  test('site is another word for a website', async () => {
    await importLines(desk, [{ owner: 'ada@example.com', kind: 'site', name: 'Four', slug: 'four', status: 'draft' }])
    const words = install.map((word) => (word === 'website' ? 'site' : word))
    expect(await desk.json([...words, 'four'])).toMatchObject({ kind: 'website', resource: 'four' })
  })

  test('needs a website or store of this user', async () => {
    const { exitCode, stderr } = await desk.run([...install, 'no-such-site'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'error: This user has no such website or store.\n' })
  })
})

test('without --json, list prints a table', async () => {
  const { stdout } = await desk.run(['app', 'list'])
  expect(stdout).toMatch(/^SLUG +NAME +STATUS +DELETED +DEVELOPMENT CLIENT ID +PRODUCTION CLIENT ID +SCOPES\n/)
  expect(stdout).toMatch(/^newsletter +Newsletter +active +- +apc_dev_/m)
})

test('an app is named by its slug or its ID, and every list of its things also takes it with --app', async () => {
  const { id } = await addApp(desk, 'by-id')
  await desk.json(['credential', 'create', id, '--environment', 'development'])
  await desk.json(['redirect', 'add', id, '--environment', 'development', 'https://by-id.example/callback'])
  for (const list of ['credential', 'redirect', 'endpoint', 'review', 'install', 'audit'].map((noun) => [
    noun,
    'list',
  ])) {
    const bySlug = await desk.json([...list, 'by-id'])
    expect({ list, found: await desk.json([...list, '--app', id]) }).toEqual({ list, found: bySlug })
  }
  expect(await desk.json(['redirect', 'list', id])).toEqual(await desk.json(['redirect', 'list', '--app', 'by-id']))
  expect(await desk.json(['app', 'suspend', id])).toMatchObject({ slug: 'by-id', status: 'suspended' })
  expect((await desk.run(['app', 'suspend', `app_${'0'.repeat(32)}`])).stderr).toBe(
    'error: There is no app with this slug or ID.\n',
  )
}, 180_000)
