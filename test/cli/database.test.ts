import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contentsOf } from '../support/beside.ts'
import { call } from '../support/call.ts'
import { onSqlite } from '../support/engines.ts'
import { onPostgres } from '../support/postgres.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addCredential, addUser, deskAt, failureIn, isoTime, openDesk, urlOfDesk } from './support/run.ts'

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

onSqlite('place of the file')(
  'migrate creates a private database in a private folder and lists the applied migrations',
  async () => {
    const desk = deskAt(join(temporaryFolder(), 'data', 'app-platform.db'))
    expect(await desk.json(['migrate'])).toEqual({
      database: desk.file,
      applied: ['initial'],
    })
    expect(await desk.json(['migrate'])).toEqual({ database: desk.file, applied: [] })
    expect(modeOf(desk.folder)).toBe('700')
    expect(modeOf(desk.file)).toBe('600')
  },
)

test('seed fills an empty database and prints working logins and secrets once', async () => {
  const desk = deskAt(join(temporaryFolder(), 'data', 'app-platform.db'))
  const demo = await desk.json(['seed'])
  expect(demo.users).toHaveLength(2)
  expect(demo.apps).toHaveLength(2)
  expect(demo.installs.map((install: { approval: string }) => install.approval).toSorted()).toEqual([
    'approved',
    'pending',
  ])
  const server = await startServer({ database: desk.file })
  for (const { email, password } of demo.users) {
    expect((await call(server.url, 'POST', '~/api/session', { body: { email, password } })).status).toBe(200)
  }
  for (const { development, production } of demo.apps) {
    for (const { clientId, clientSecret } of [development, production]) {
      const body = { clientId, clientSecret, scope: 'site:read' }
      expect((await call(server.url, 'POST', '/token', { body })).status).toBe(200)
    }
  }
  const body = { ...demo.apps[0].development, scope: 'site:read' }
  const token = (await call(server.url, 'POST', '/token', { body })).body.accessToken
  const { data } = (await call(server.url, 'GET', '/versions', { token })).body
  expect(new Set(data.map((version: { status: string }) => version.status))).toEqual(
    new Set(['draft', 'submitted', 'approved', 'active', 'superseded', 'rejected']),
  )
  expect(await server.stop()).toBe(0)
})

test('seed explains how to add a webhook endpoint, and the command it shows works', async () => {
  const desk = deskAt(join(temporaryFolder(), 'app-platform.db'))
  const { stdout } = await desk.run(['seed'])
  const told = /^ {2}app-platform (endpoint add .*)$/m.exec(stdout)?.[1] ?? ''
  const env = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }
  const added = await desk.run(told.replace('https://...', 'https://127.0.0.1:9/hooks').split(' '), { env })
  expect(added).toMatchObject({ exitCode: 0, stderr: '' })
})

test('seed and dev refuse a database that is not empty, end, and leave it as it is', async () => {
  const desk = await openDesk()
  await addUser(desk)
  for (const words of [
    ['seed', '--json'],
    ['dev', '--port', '0', '--database', await urlOfDesk(desk.file)],
  ]) {
    const { exitCode, stdout, stderr } = await desk.run(words)
    expect({ exitCode, told: stdout.replace(/^\{.*\n/gm, '') }).toEqual({ exitCode: 1, told: '' })
    expect(stderr).toMatch(/^error: The database has data that is not of a demo[^\n]*\n$/m)
  }
  expect((await desk.json(['app', 'list'])).data).toEqual([])
})

test('purge reports what it removed', async () => {
  const desk = await openDesk()
  expect(await desk.json(['purge'])).toEqual({
    appTokens: 0,
    sessions: 0,
    grants: 0,
    devices: 0,
    formTickets: 0,
    signInRequests: 0,
    passwordLinks: 0,
    mails: 0,
    appInvitations: 0,
    stagedResources: 0,
    installSessionCodes: 0,
    embeddedSessions: 0,
    retrySalts: 0,
    idempotencyKeys: 0,
    artifacts: 0,
    webhookAttempts: 0,
    webhookEvents: 0,
    webhookSecrets: 0,
    deletedApps: 0,
    anonymousRefusals: 0,
    hourlyCounts: 0,
    dailyUsers: 0,
    auditEvents: 0,
    auditPositions: 0,
  })
})

onSqlite('restore of a file')(
  'a backup beside a running server is one private file with everything acknowledged before',
  async () => {
    const desk = await openDesk()
    const server = await startServer({ database: desk.file })
    await addUser(desk)
    const to = join(desk.folder, 'backups', 'monday.db')
    const made = await desk.json(['backup', to])
    expect(made).toEqual({
      file: to,
      recorded: true,
      pruned: [],
      sizeBytes: statSync(to).size,
      createdAt: expect.stringMatching(isoTime),
    })
    expect(modeOf(to)).toBe('600')
    expect(modeOf(join(to, '..'))).toBe('700')
    expect(readdirSync(join(to, '..'))).toEqual(['monday.db'])
    const copy = new Database(to, { readonly: true })
    expect(copy.query('SELECT email FROM users').values()).toEqual([['ada@example.com']])
    copy.close()
    expect(await server.stop()).toBe(0)
  },
)

onSqlite('restore of a file')('backup replaces a file only with --force, and never the database itself', async () => {
  const desk = await openDesk()
  const to = join(desk.folder, 'copy.db')
  writeFileSync(to, 'something else')
  const refused = await desk.run(['backup', to, '--json'])
  expect([refused.exitCode, failureIn(refused)]).toEqual([1, 'database_unusable'])
  expect(readFileSync(to, 'utf8')).toBe('something else')
  expect((await desk.run(['backup', to, '--force'])).exitCode).toBe(0)
  expect(readFileSync(to, 'latin1')).toStartWith('SQLite format 3')
  const before = readFileSync(desk.file)
  for (const own of [desk.file, `${desk.file}-wal`, `${desk.file}.lock`]) {
    expect((await desk.run(['backup', own, '--force'])).exitCode).toBe(1)
  }
  expect(readFileSync(desk.file)).toEqual(before)
})

test('check finds nothing wrong with a sound database', async () => {
  const desk = await openDesk()
  expect(await desk.json(['check'])).toEqual({ ok: true, problems: [] })
  expect((await desk.run(['check'])).stdout).toStartWith('Nothing is wrong')
})

onSqlite('place of the file')('check explains on stderr what is wrong, in plain words, and exits 1', async () => {
  const open = await openDesk()
  chmodSync(open.file, 0o644)
  const damaged = await openDesk()
  await addUser(damaged)
  const bytes = readFileSync(damaged.file)
  bytes.fill(0x5a, 5 * 4096, 9 * 4096)
  writeFileSync(damaged.file, bytes)
  const foreign = await openDesk()
  writeFileSync(foreign.file, 'this is no database at all, but it is long enough to be looked at'.repeat(20))
  const newer = await openDesk()
  const later = new Database(newer.file)
  later.run("INSERT INTO schema_migrations VALUES (99, 'from_the_future', 'ff')")
  later.close()
  const cases = [
    [open, /open to other users/],
    [damaged, /damaged/],
    [foreign, /cannot be read as an SQLite database|damaged/],
    [newer, /newer version/],
  ] as const
  for (const [desk, says] of cases) {
    for (const words of [['check'], ['check', '--json']]) {
      const { exitCode, stdout, stderr } = await desk.run(words)
      if (words.length === 1) expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
      else expect([exitCode, failureIn({ stdout, stderr })]).toEqual([1, 'command_failed'])
      expect(stderr).toMatch(says)
      expect(stderr).toMatch(/^(error: [^\n]+\.\n)+$/)
    }
  }
})

test('nothing that the database keeps and no line on stderr contains a secret or a password', async () => {
  const desk = await openDesk()
  const password = 'canary-correct-horse-battery'
  const created = await desk.run(
    ['user', 'create', '--email', 'ada@example.com', '--name', 'Ada', '--password-stdin', '--json'],
    { stdin: password },
  )
  await addApp(desk)
  const { clientSecret } = await addCredential(desk)
  const twice = await desk.run(['user', 'create', '--email', 'ada@example.com', '--name', 'Ada', '--password-stdin'], {
    stdin: password,
  })
  expect(created.stdout + created.stderr + twice.stdout + twice.stderr).not.toContain('canary')
  const kept = onPostgres
    ? await contentsOf(desk.file)
    : readdirSync(desk.folder).map((name) => ({ name, content: readFileSync(join(desk.folder, name)) }))
  expect(kept.length).toBeGreaterThan(1)
  for (const { content } of kept) {
    expect(content.includes(password) || content.includes(clientSecret)).toBe(false)
  }
})
