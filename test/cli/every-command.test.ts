import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { onSqlite } from '../support/engines.ts'
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
