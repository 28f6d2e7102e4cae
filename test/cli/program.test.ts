import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { valuesCommand } from '../../src/cli/completion/completed-command.ts'
import { commandPlaces } from '../../src/cli/remote-commands.ts'
import { onSqlite } from '../support/engines.ts'
import { databaseOf } from '../support/postgres.ts'
import { programCommand } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { everyCommand } from './support/commands.ts'
import { deskAt, failureIn, openDesk, run, runHere } from './support/run.ts'

const groups = everyCommand.map(([name]) => name.split(' ').slice(0, -1).join(' '))
const commands = [...new Set([...groups, ...everyCommand.map(([name]) => name)])]

test('every command prints its --help on stdout and exits 0', async () => {
  for (const command of commands) {
    const { exitCode, stdout, stderr } = await runHere([...command.split(' ').filter(Boolean), '--help'])
    expect({ command, exitCode, stderr }).toEqual({ command, exitCode: 0, stderr: '' })
    expect(stdout).toStartWith(`Usage: app-platform${command === '' ? '' : ` ${command}`} `)
  }
}, 300_000)

test('the help of the program lists every command', async () => {
  const { stdout } = await run(['--help'])
  for (const command of commands.filter((name) => !name.includes(' ') && name !== valuesCommand))
    expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
})

test('no two nouns differ only in their number, except for one pair, whose help names the other', async () => {
  const nouns = new Set(Object.keys(commandPlaces).map((name) => name.split(' ')[0] ?? ''))
  const pairs = [...nouns].filter((noun) => nouns.has(`${noun}s`))
  expect(pairs).toEqual(['install']) // operators approve what the API calls /installs
  expect((await runHere(['install', '--help'])).stdout).toContain('see installs.')
  expect((await runHere(['installs', '--help'])).stdout).toContain('see install.')
})

test('--version prints the version, the commit and the version of SQLite', async () => {
  const { exitCode, stdout, stderr } = await run(['--version'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toMatch(
    /^app-platform \d+\.\d+\.\d+ \(commit (development|unknown|[0-9a-f]{12}\+?), SQLite 3\.\d+\.\d+, Bun \d+\.\d+\.\d+\)\n$/,
  )
  expect(await run(['-V'])).toEqual({ exitCode, stdout, stderr })
})

test('a wrong call exits 2, explains on stderr and prints nothing on stdout, or with --json the error', async () => {
  const desk = await openDesk()
  const wrong: readonly (readonly [words: string[], says: RegExp])[] = [
    [[], /Usage/],
    [['user'], /Usage/],
    [['frobnicate'], /unknown command/],
    [['user', 'frobnicate'], /unknown command/],
    [['app', 'list', '--frobnicate'], /unknown option/],
    [['app', 'list', 'extra'], /too many arguments/],
    [['app', 'suspend'], /missing required argument/],
    [['app', 'create', '--owner', 'a@example.com', '--name', 'N', '--slug', 's'], /--scopes/],
    [['credential', 'create', 'newsletter'], /--environment/],
    [['credential', 'create', 'newsletter', '--environment', 'staging'], /development, production/],
    [['credential', 'rotate', 'apc_dev_x', '--grace-hours', '169'], /0 to 168/],
    [['credential', 'rotate', 'apc_dev_x', '--grace-hours', '1.5'], /whole number/],
    [
      ['install', 'create', 'newsletter', '--user', 'a@example.com', '--resource', 'r', '--kind', 'shop'],
      /website, site, store/,
    ],
    [['review', 'reject', 'newsletter', '1.0.0'], /--message/],
    [['review', 'list'], /Which app\? Name it by its slug or ID\./],
    [['install', 'list', 'newsletter', '--app', 'shop'], /Name one app\./],
    [['review', 'reject', 'newsletter', '1.0.0', '--message', 'm', '--item', 'no equals sign'], /path=message/],
    [['audit', 'list', '--limit', '0'], /1 to 10000/],
    [['audit', 'list', '--limit', '10001'], /1 to 10000/],
    [['audit', 'list', '--since', 'yesterday'], /24h/],
    [['audit', 'list', '--since', '2026-02-30T00:00:00Z'], /24h/],
    [['user', 'create', '--email', 'a@example.com', '--name', 'N'], /--password-stdin/],
    [
      ['user', 'create', '--email', 'a@example.com', '--name', 'N', '--password-stdin', '--generate-password'],
      /one of/,
    ],
  ]
  for (const [words, says] of wrong) {
    const { exitCode, stdout, stderr } = await desk.run(words)
    expect({ words, exitCode, stdout }).toEqual({ words, exitCode: 2, stdout: '' })
    expect(stderr).toMatch(says)
    const asJson = await desk.run([...words, '--json'])
    expect({ words, exitCode: asJson.exitCode, code: failureIn(asJson) }).toEqual({ words, exitCode: 2, code: 'usage' })
  }
}, 180_000)

test('all wrong settings are reported at once, and nothing starts', async () => {
  const folder = temporaryFolder()
  const env = {
    DATABASE_URL: 'mysql://many',
    PORT: 'many',
    LIFETIME_CODE: '301',
    RATE_LIMIT: 'perhaps',
    RATE_LIMIT_TOKEN: '1/0',
  }
  // A command needs only the settings that it uses.
  const ofDatabase = ['DATABASE_URL']
  const ofPlatform = [...ofDatabase, 'PORT', 'LIFETIME_CODE']
  for (const [words, names] of [
    [['app', 'list'], ofPlatform],
    [['migrate'], ofDatabase],
    [['seed'], ofPlatform],
    [['check'], ofDatabase],
    [['backup', 'x'], ofDatabase],
    [['restore', 'x'], ofDatabase],
    [['serve'], Object.keys(env)],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(words, { env, cwd: folder })
    expect({ words, exitCode, stdout }).toEqual({ words, exitCode: 2, stdout: '' })
    for (const name of names)
      expect({ words, stderr }).toEqual({ words, stderr: expect.stringContaining(`error: ${name} `) })
    expect(stderr).not.toContain('many')
  }
  expect([...new Bun.Glob('**').scanSync(folder)]).toEqual([])
}, 180_000)

test('a flag wins over the environment', async () => {
  const desk = await openDesk()
  const env = { DATABASE_URL: `file:${join(desk.folder, 'nowhere.db')}` }
  expect((await desk.run(['app', 'list'], { env })).exitCode).toBe(1)
  expect((await desk.run(['app', 'list', '--database', await databaseOf(desk.file)], { env })).exitCode).toBe(0)
})

onSqlite('place of the file')('a command on a missing database exits 1 with one line and creates nothing', async () => {
  const desk = deskAt(join(temporaryFolder(), 'data', 'app-platform.db'))
  for (const words of [
    ['app', 'list'],
    ['check'],
    ['backup', join(desk.folder, 'copy.db')],
    ['audit', 'list'],
    ['purge'],
  ]) {
    const { exitCode, stdout, stderr } = await desk.run([...words, '--json'])
    expect({ words, exitCode }).toEqual({ words, exitCode: 1 })
    expect(stderr).toMatch(/^error: There is no database at [^\n]+\n$/)
    failureIn({ stdout, stderr })
  }
  expect([...new Bun.Glob('**').scanSync(join(desk.folder, '..'))]).toEqual([])
})

test('an unknown flag with a secret value is refused without repeating the value', async () => {
  const desk = await openDesk()
  const words = ['user', 'create', '--email', 'ada@example.com', '--name', 'Ada', '--password=hunter2-hunter2']
  const { exitCode, stdout, stderr } = await desk.run(words)
  expect(exitCode).toBe(2)
  expect(stdout + stderr).not.toContain('hunter2')
})

test('a reader that stops early is no failure', async () => {
  const desk = await openDesk()
  const words = [...programCommand, 'audit', 'list', '--database', await databaseOf(desk.file)]
  const child = Bun.spawn(words, { stdout: 'pipe', stderr: 'pipe' })
  await child.stdout.cancel()
  expect(await child.exited).toBe(0)
  expect(await new Response(child.stderr).text()).toBe('')
})
