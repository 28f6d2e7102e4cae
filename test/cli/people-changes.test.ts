import { beforeAll, expect, test } from 'bun:test'
import type { Json } from '../support/call.ts'
import { startServer } from '../support/running-server.ts'
import { addApp, addUser, type Desk, failureIn, openDesk, password } from './support/run.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
  await addUser(desk)
})

const refusedWith = async (words: readonly string[], exitCode: 1 | 2, options = {}): Promise<string> => {
  const { stdout, stderr, ...found } = await desk.run([...words, '--json'], options)
  expect({ words, ...found }).toEqual({ words, exitCode })
  failureIn({ stdout, stderr })
  return stderr
}
const fresh = async (stem: string) => {
  const email = `${stem}@example.com`
  const user = await addUser(desk, email)
  return { ...user, email }
}
const statusOf = async (slug: string) => {
  const { data } = await desk.json(['app', 'list'])
  return data.find((app: { slug: string }) => app.slug === slug)?.status
}

test('a command runs with the settings of the service without its secrets, and leaves its mail to the server', async () => {
  const ofService = {
    PUBLIC_URL: 'https://apps.example',
    SIGN_IN: 'password,oidc',
    OIDC_ISSUER: 'https://id.example',
    OIDC_CLIENT_ID: 'apps',
    MAIL_FROM: 'apps@example.com',
    METRICS_LISTEN: 'unfinished',
  }
  const words = ['user', 'invite', 'invited@example.com', '--name', 'Ada', '--json']
  const { exitCode, stdout, stderr } = await desk.run(words, { env: ofService })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const { link, advice } = JSON.parse(stdout)
  expect(link).toStartWith('https://apps.example/')
  expect(advice).toEqual([expect.stringContaining('mails a link of its own to invited@example.com')])
  expect((await desk.run(['check'], { env: ofService })).exitCode).toBe(0)
  expect((await desk.run(['serve'], { env: ofService })).exitCode).toBe(2)
})

test('user disable suspends the apps of the user and names the command to activate one', async () => {
  const { email } = await fresh('owner')
  await desk.json(['app', 'create', '--owner', email, '--name', 'One', '--slug', 'one', '--scopes', 'site:read'])
  const answer = await desk.json(['user', 'disable', email])
  expect(answer).toMatchObject({
    status: 'disabled',
    ended: { sessions: 0, embeddedSessions: 0 },
    stopped: { grants: 0, userTokens: 0, appTokens: 0 },
    apps: { suspended: ['one'], kept: [], transferred: [] },
    advice: [expect.stringContaining('app-platform app activate')],
  })
  expect(await statusOf('one')).toBe('suspended')
  const { stdout } = await desk.run(['user', 'enable', email])
  expect(stdout).toContain('Still suspended. To activate it: app-platform app activate one')
  expect(await statusOf('one')).toBe('suspended')
})

test('user disable --apps keeps or transfers the apps', async () => {
  const [from, to] = [await fresh('from'), await fresh('to')]
  const create = ['app', 'create', '--owner', from.email, '--name', 'Two', '--slug', 'two', '--scopes', 'site:read']
  await desk.json(create)
  expect((await desk.json(['user', 'disable', from.email, '--apps', 'keep'])).apps.kept).toEqual(['two'])
  expect(await statusOf('two')).toBe('active')
  const answer = await desk.json(['user', 'disable', from.email, '--apps', `transfer:${to.email}`])
  expect(answer.apps.transferred).toEqual(['two'])
  expect(answer.advice.join('\n')).toContain('credential rotate')
  expect(await refusedWith(['user', 'disable', to.email, '--apps', 'transfer:nobody@example.com'], 1)).toContain(
    'nobody@example.com',
  )
  for (const choice of ['drop', 'transfer', 'transfer:']) {
    expect(await refusedWith(['user', 'disable', to.email, '--apps', choice], 2)).toContain('transfer:EMAIL')
  }
})

test('user set-password reads a password from standard input or generates one', async () => {
  const { email } = await fresh('forgetful')
  const { stdout } = await desk.run(['user', 'set-password', email, '--password-stdin', '--json'], { stdin: password })
  expect(JSON.parse(stdout)).toMatchObject({ email, ended: { sessions: 0 } })
  expect(stdout).not.toContain(password)
  expect(JSON.parse(stdout)).not.toHaveProperty('password')
  const made = await desk.json(['user', 'set-password', email, '--generate-password'])
  expect(made.password).toMatch(/^[0-9A-Za-z]{22}$/)
  await refusedWith(['user', 'set-password', email], 2)
  await refusedWith(['user', 'set-password', email, '--password-stdin', '--generate-password'], 2)
  await refusedWith(['user', 'set-password', email, '--password-stdin'], 1, { stdin: 'short' })
  // The byte order mark that some editors put into a file is no character of a password: nobody can type it.
  await refusedWith(['user', 'set-password', email, '--password-stdin'], 1, { stdin: '\ufeffseven77\r\n' })
  await refusedWith(['user', 'set-password', 'nobody@example.com', '--generate-password'], 1)
})

test('user rename and set-email change the name and the address, which stays unique and normalised', async () => {
  const { email } = await fresh('before')
  expect((await desk.json(['user', 'rename', email, '--name', 'Grace'])).name).toBe('Grace')
  for (const name of ['evil\u202ename', 'Gr\u200bace']) await refusedWith(['user', 'rename', email, '--name', name], 1)
  await refusedWith(['user', 'rename', email], 2)
  expect((await desk.json(['user', 'set-email', email, '--to', 'After@Example.COM'])).email).toBe('after@example.com')
  await refusedWith(['user', 'set-email', email, '--to', 'third@example.com'], 1)
  expect(await refusedWith(['user', 'set-email', 'after@example.com', '--to', 'ADA@example.com'], 1)).toContain(
    'already',
  )
  await refusedWith(['user', 'set-email', 'after@example.com', '--to', 'after.example.com'], 1)
  const { stdout } = await desk.run(['audit', 'list', '--json'])
  expect(stdout).toContain('user.changed')
  expect(stdout).toContain('user.email_changed')
  expect(stdout).not.toContain('after@example.com') // the audit log has no names and addresses of people
})

test('user link and unlink say who at the identity provider signs in to the account, and what stays', async () => {
  const { email } = await fresh('at-provider')
  const place = ['--issuer', 'https://id.example.com/']
  const linked = await desk.json(['user', 'link', email, ...place, '--subject', 'first'])
  expect(linked).toMatchObject({ email, issuer: 'https://id.example.com', subject: 'first', replaced: 0 })
  expect(linked.advice).toEqual([expect.stringContaining('OIDC_ISSUER is https://id.example.com')])
  const again = await desk.json(['user', 'link', email, ...place, '--subject', 'second'])
  expect([again.replaced, again.advice.join('\n')]).toEqual([1, expect.stringContaining(`user sign-out ${email}`)])
  const { advice } = await desk.json(['user', 'unlink', email, ...place])
  expect(advice.join('\n')).toContain(`Sessions stay. To end them: app-platform user sign-out ${email}`)
  expect(await refusedWith(['user', 'unlink', email, ...place], 1)).toContain('not linked')
  for (const words of [[], place, ['--external-id', 'x', '--subject', 'a']]) {
    expect(await refusedWith(['user', 'link', email, ...words], 2)).toContain(
      '--external-id, or --issuer and --subject',
    )
  }
})

const set = (email: string, state: string) => ['user', 'set-operator', email, state]

test('user set-operator grants and removes operator rights, but never those of the last operator', async () => {
  const [one, two] = [await fresh('desk-one'), await fresh('desk-two')]
  expect((await desk.json(set(one.email, 'on'))).operator).toBe(true)
  expect(await refusedWith(set(one.email, 'off'), 1)).toContain('the last operator')
  await desk.json(set(two.email, 'on'))
  expect((await desk.json(set(one.email, 'off'))).operator).toBe(false)
  await refusedWith(set(one.email, 'maybe'), 2)
  await refusedWith(['user', 'set-operator', one.email], 2)
})

test('user end-access and app end-access report what ended and what stays', async () => {
  const { email } = await fresh('ended')
  await desk.json(['app', 'create', '--owner', email, '--name', 'Three', '--slug', 'three', '--scopes', 'site:read'])
  const user = await desk.json(['user', 'end-access', email])
  expect(user.ended).toMatchObject({ grants: 0, userTokens: 0, sessions: 0, embeddedSessions: 0 })
  expect(user.advice).toEqual([
    expect.stringContaining('The password still works'),
    expect.stringContaining('app-platform app end-access three'),
  ])
  const app = await desk.json(['app', 'end-access', 'three'])
  expect(app.ended).toMatchObject({ grants: 0, appTokens: 0, embeddedSessions: 0 })
  expect(app.advice[0]).toStartWith('Client secrets stay.')
  expect(await refusedWith(['app', 'end-access', 'no-such-app'], 1)).toBe(
    'error: There is no app with this slug or ID.\n',
  )
  await refusedWith(['user', 'end-access', 'nobody@example.com'], 1)
})

test('user sessions lists where somebody is signed in, and user sign-out ends all of it', async () => {
  const { email } = await fresh('signed-in')
  const server = await startServer({ database: desk.file, ownProcess: true })
  const signIn = async (): Promise<Json> => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ email, password })
    return (await fetch(`${server.url}/api/session`, { method: 'POST', headers, body })).json()
  }
  const [first, second] = [await signIn(), await signIn()]
  const listed = (await desk.json(['user', 'sessions', email])).data
  expect(listed).toMatchObject([{ address: '127.0.0.1', usedAt: expect.any(String) }, { address: '127.0.0.1' }])
  expect(JSON.stringify(listed)).not.toContain(first.sessionToken)
  const { ended, advice } = await desk.json(['user', 'sign-out', email])
  expect([ended, advice]).toEqual([{ sessions: 2 }, [expect.stringContaining('The password still works')]])
  for (const { sessionToken } of [first, second]) {
    const headers = { authorization: `Bearer ${sessionToken}`, 'x-service-api-version': '2026-08' }
    expect((await fetch(`${server.url}/api/session`, { headers })).status).toBe(401)
  }
  expect((await desk.json(['user', 'sessions', email])).data).toEqual([])
  const { data: told } = await desk.json(['audit', 'list', '--limit', '9'])
  expect(told).toContainEqual(expect.objectContaining({ action: 'user.sessions_ended', detail: { sessions: 2 } }))
  await refusedWith(['user', 'sign-out', 'nobody@example.com'], 1)
  await server.stop()
})

test('app member adds a person to the team of an app, changes what they may do, and removes them', async () => {
  const [owner, { email }] = [await fresh('team-owner'), await fresh('colleague')]
  await desk.json([
    'app',
    'create',
    '--owner',
    owner.email,
    '--name',
    'Team',
    '--slug',
    'team',
    '--scopes',
    'site:read',
  ])
  const rolesOf = async () =>
    (await desk.json(['app', 'members', 'team'])).data.map((each: Json) => [each.email, each.role])
  expect(await desk.json(['app', 'member', 'add', 'team', email, '--role', 'developer'])).toMatchObject({
    role: 'developer',
  })
  await desk.json(['app', 'member', 'role', 'team', email, '--role', 'admin'])
  expect(await rolesOf()).toEqual([
    [owner.email, 'owner'],
    [email, 'admin'],
  ])
  const { advice } = await desk.json(['app', 'member', 'remove', 'team', email])
  expect(advice).toEqual([expect.stringContaining('app-platform credential rotate')])
  expect(await rolesOf()).toEqual([[owner.email, 'owner']])
  for (const words of [
    ['remove', 'team', email],
    ['remove', 'team', owner.email],
    ['role', 'team', owner.email, '--role', 'developer'],
    ['add', 'team', 'nobody@example.com', '--role', 'admin'],
  ]) {
    expect(await refusedWith(['app', 'member', ...words], 1)).toMatch(/^error: [^\n]+\.\n$/)
  }
  await refusedWith(['app', 'member', 'add', 'team', email, '--role', 'king'], 2)
})

test('app delete hides an app, undelete brings it back suspended, and both name the next command', async () => {
  await addApp(desk, 'going')
  expect(await desk.json(['app', 'show', 'going'])).toMatchObject({
    slug: 'going',
    status: 'active',
    liveVersion: null,
  })
  await refusedWith(['app', 'show', 'nowhere'], 1)
  expect(await desk.json(['app', 'rename', 'going', '--name', 'Newsletter'])).toMatchObject({ name: 'Newsletter' })
  const deleted = await desk.json(['app', 'delete', 'going'])
  expect(deleted).toMatchObject({ status: 'suspended', deletedAt: expect.any(String) })
  expect(deleted.advice).toEqual(['To bring it back within 7 days: app-platform app undelete going'])
  expect(await refusedWith(['app', 'activate', 'going'], 1)).toContain('app-platform app undelete')
  const { stdout } = await desk.run(['app', 'list'])
  expect(stdout).toMatch(/^going +Newsletter +suspended +20\d\d-/m)
  const back = await desk.json(['app', 'undelete', 'going'])
  expect(back).toMatchObject({ status: 'suspended', deletedAt: null })
  expect(back.advice).toEqual(['It is suspended. To activate it: app-platform app activate going'])
  await refusedWith(['app', 'undelete', 'going'], 1)
})

test('app transfer gives an app to another active user within their quota', async () => {
  await addApp(desk, 'moving')
  const heir = await fresh('heir')
  expect((await desk.json(['app', 'transfer', 'moving', '--to', heir.email])).ownerId).toBe(heir.id)
  expect(await refusedWith(['app', 'transfer', 'moving', '--to', 'nobody@example.com'], 1)).toContain(
    'There is no user with the address nobody@example.com.',
  )
  await refusedWith(['app', 'transfer', 'moving'], 2)
  const narrow = { env: { QUOTA_APPS: '1' } }
  await desk.run(['app', 'create', '--owner', heir.email, '--name', 'N', '--slug', 'four', '--scopes', 'site:read'])
  expect(await refusedWith(['app', 'transfer', 'going', '--to', heir.email], 1, narrow)).toContain('QUOTA_APPS')
})

test('user invite and user reset-link print a link, which is refused for people who exist, or do not', async () => {
  const { email } = await fresh('linked')
  const invited = await desk.json(['user', 'invite', `new-${email}`, '--name', 'Ada', '--operator'])
  expect(invited).toMatchObject({ email: `new-${email}`, operator: true })
  expect(invited.link).toMatch(/^http:\/\/localhost:\d+\/set-password\?link=appl_[0-9A-Za-z]{71}$/)
  const { origin } = new URL(invited.link)
  expect(invited.advice).toEqual([`PUBLIC_URL is not set: the link leads to ${origin}.`])
  const reset = await desk.json(['user', 'reset-link', email], { env: { PUBLIC_URL: 'https://apps.example.com' } })
  expect(reset.link).toStartWith('https://apps.example.com/set-password?link=appl_')
  expect(reset.advice).toBeUndefined()
  for (const words of [
    ['invite', `plain-${email}`, '--name', 'Ada'],
    ['reset-link', email],
  ]) {
    const lines = (await desk.run(['user', ...words])).stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toStartWith('PUBLIC_URL is not set')
    expect(lines[1]).toMatch(/@example\.com\) sets a password\. It works once, until \d{4}-\d\d-\d\d \d\d:\d\d UTC:$/)
    expect(lines[2]).toMatch(/^http:\/\/localhost:\d+\/set-password\?link=appl_[0-9A-Za-z]{71}$/)
  }
  expect(await refusedWith(['user', 'invite', email, '--name', 'Ada'], 1)).toContain('already exists')
  await refusedWith(['user', 'invite', `other-${email}`], 2)
  await refusedWith(['user', 'reset-link', 'nobody@example.com'], 1)
})

test('user create and user invite take the address as the argument or with --email, once; user show tells what there is', async () => {
  const named = ['--name', 'Named']
  const made = await desk.json(['user', 'create', 'argument@example.com', ...named, '--generate-password'])
  expect(made.email).toBe('argument@example.com')
  expect(await desk.json(['user', 'invite', '--email', 'flag@example.com', ...named])).toMatchObject({
    email: 'flag@example.com',
    link: expect.any(String),
  })
  for (const words of [
    ['create', '--generate-password'],
    ['invite'],
    ['invite', 'a@example.com', '--email', 'b@example.com'],
  ])
    await refusedWith(['user', ...words, ...named], 2)
  expect(await desk.json(['user', 'show', 'argument@example.com'])).toMatchObject({ id: made.id, apps: [] })
  await refusedWith(['user', 'show', 'nobody@example.com'], 1)
})
