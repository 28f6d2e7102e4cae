import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { askPostgres } from '../support/beside.ts'
import { onSqlite } from '../support/engines.ts'
import { databaseOf, onPostgres } from '../support/postgres.ts'
import { every, expectOne, fileWith, runEvery, urlOf } from './support/every-command.ts'
import { openDesk, runHere, urlOfDesk } from './support/run.ts'

setDefaultTimeout(240_000)

test('the table has every command on the database', () => {
  expect(every.length).toBeGreaterThan(80)
})

onSqlite('place of the file')(
  'every command tells another file, a foreign and a cut database in the same words',
  async () => {
    const text = fileWith((file) => writeFileSync(file, 'root:x:0\n'.repeat(100)))
    const remedy = 'restore a backup with app-platform restore FILE.'
    await expectOne(urlOf(text), `${text} cannot be read as an SQLite database: correct the path, or ${remedy}`)
    const foreign = fileWith((file) => {
      using database = new Database(file)
      database.run('CREATE TABLE theirs (a INTEGER)')
    })
    await expectOne(urlOf(foreign), `${foreign} is not a database of this program.`)
    const desk = await openDesk()
    const cut = fileWith((file) => writeFileSync(file, readFileSync(desk.file).subarray(0, 40 * 4_096)))
    await expectOne(urlOf(cut), `${cut} is damaged: ${remedy}`)
  },
)

onSqlite('locked file')(
  'a lock that another program holds is named by a command that changes something, and others go on',
  async () => {
    const desk = await openDesk()
    using held = new Database(desk.file)
    held.run('BEGIN IMMEDIATE')
    const invited = await desk.run(['user', 'invite', 'ada@example.com', '--name', 'Ada'])
    expect(invited).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'error: Another program has held the write lock of the database for more than 2 seconds: let it finish, or end it.\n',
    })
    for (const words of [['user', 'list'], ['check'], ['migrate']])
      expect({ words, ...(await desk.run(words)) }).toMatchObject({ words, exitCode: 0 })
    held.run('ROLLBACK')
  },
)

test('every command tells a PostgreSQL that is down in the same words', async () => {
  await expectOne(
    { DATABASE_URL: 'postgres://app:canary@127.0.0.1:1/apps' },
    'None of the hosts in DATABASE_URL is reachable as a PostgreSQL primary (127.0.0.1:1/apps): start one, or promote its standby.',
  )
})

test.skipIf(!onPostgres)('every command tells what PostgreSQL refuses in the same words', async () => {
  const url = await databaseOf((await openDesk()).file)
  const sibling = async (name: string, sql: string): Promise<string> => {
    await askPostgres(url, `CREATE DATABASE ${name}`, [])
    const made = url.replace(/\/t_\w+\?/, `/${name}?`)
    await askPostgres(made, sql, [])
    return made
  }
  const foreign = await sibling('every_foreign', 'CREATE TABLE theirs (a int)')
  const place = `${new URL(foreign).searchParams.get('host')}:5432`
  for (const [given, sentence] of [
    [foreign, 'The PostgreSQL database has tables that are not of this program: use an empty one.'],
    [
      foreign.replace('app@', 'canary:canary@'),
      `PostgreSQL at ${place}/every_foreign refuses the user or the password of DATABASE_URL: see its log, and pg_hba.conf.`,
    ],
    [
      foreign.replace('/every_foreign?', '/nowhere?'),
      `PostgreSQL at ${place}/nowhere has no database of the name in DATABASE_URL: make it with createdb --owner USER NAME.`,
    ],
  ] as const)
    await expectOne({ DATABASE_URL: given }, sentence, /^backup$/) // it looks first where the dump goes
})

test.skipIf(!onPostgres)(
  'a PostgreSQL that takes no changes is told by what changes something, and lists go on',
  async () => {
    const desk = await openDesk()
    const url = await databaseOf(desk.file)
    const name = new URL(url).pathname.slice(1)
    await askPostgres(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`, [])
    const sentence =
      'PostgreSQL takes no changes now, such as with a full disk, a held lock or during a failover: see its log, and run the command again.'
    const invite = ['user', 'invite', 'ada@example.com', '--name', 'Ada']
    for (const words of [
      invite,
      ['purge'],
      ['scope', 'add', 'pages:read', '--for', 'user', '--text', 'Read your pages'],
    ])
      expect({ words, ...(await desk.run(words)) }).toEqual({
        words,
        exitCode: 1,
        stdout: '',
        stderr: `error: ${sentence}\n`,
      })
    expect(await desk.run(['user', 'list'])).toMatchObject({ exitCode: 0 })
  },
)

/** Complete for the server alone: the secrets are in files that only it can read, and its folder is elsewhere. */
const ofTheServer = {
  MAIL_FROM: 'apps@example.com',
  SMTP_URL_FILE: '/nowhere/smtp-url',
  SIGN_IN: 'password,oidc',
  OIDC_ISSUER: 'https://id.example.com',
  OIDC_CLIENT_ID: 'platform',
  OIDC_CLIENT_SECRET_FILE: '/nowhere/client-secret',
  METRICS_LISTEN: '127.0.0.1:9464',
  BACKUP_DIRECTORY: '/nowhere/backups',
  EXPECT_STANDBY: 'on',
}

const ended = (found: Awaited<ReturnType<typeof runEvery>>) =>
  found.map(([name, { exitCode, stderr }]) => [name, exitCode, stderr.replaceAll(/\/tmp\/\S+/g, 'FILE')])

test('no command needs a setting that only the server uses: each ends as without them', async () => {
  const [plain, full] = [await openDesk(), await openDesk()]
  const lean = ended(await runEvery({ DATABASE_URL: await urlOfDesk(plain.file) }))
  const rich = await runEvery({ DATABASE_URL: await urlOfDesk(full.file), ...ofTheServer })
  // With a mail server and a way to sign in elsewhere, some say in other words what the person does next.
  expect(ended(rich).filter((one, index) => !Bun.deepEquals(one, lean[index]))).toEqual([])
  for (const [, { stdout, stderr }] of rich) expect(stdout + stderr).not.toMatch(/SMTP_URL|CLIENT_SECRET|\/nowhere/)
})

test('mail test, which needs the secret of the mail server, says which setting it cannot read', async () => {
  const { exitCode, stdout, stderr } = await runHere(['mail', 'test', 'ada@example.com'], { env: ofTheServer })
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(/^error: SMTP_URL_FILE [^\n]+\n$/)
})
