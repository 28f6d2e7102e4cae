import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { onSqlite } from '../support/engines.ts'
import { every, expectOne, fileWith, runEvery, urlOf } from './support/every-command.ts'
import { addApp, addUser, openDesk, runHere, urlOfDesk } from './support/run.ts'
import { besideThe, lists, ofWorld, othersThan, runTogether } from './support/together.ts'

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

/** These keep each other out. */
const isAlone = ([name]: (typeof every)[number]) => /^(recover|clock reset)$/.test(name)

onSqlite('locked file')(
  'a lock that another program holds is told in the same words by every command that changes something, and the others go on',
  async () => {
    const desk = await openDesk()
    await addUser(desk)
    await addApp(desk, 'on')
    using held = new Database(desk.file)
    held.run('BEGIN IMMEDIATE')
    const ended = await runTogether(`file:${desk.file}`, { commands: every.filter((one) => !isAlone(one)), atOnce: 24 })
    const alone = await runTogether(`file:${desk.file}`, { commands: every.filter(isAlone), atOnce: 1 })
    held.run('ROLLBACK')
    const { told, done } = besideThe(
      'Another program has held the write lock of the database for more than 2 seconds: let it finish, or end it.',
      ended,
    )
    expect(done.toSorted()).toEqual([...ofWorld, ...lists, 'check'].toSorted())
    expect(told).toBeGreaterThan(50)
    expect(othersThan(`Another process is using ${desk.file}: try again when it is done.`, alone)).toEqual({})
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
