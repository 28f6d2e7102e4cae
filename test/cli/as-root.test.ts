import { expect } from 'bun:test'
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { onSqlite } from '../support/engines.ts'
import { onPostgres } from '../support/postgres.ts'
import { needs, programAt } from '../support/needs.ts'
import { programCommand } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addUser, deskAt, type Desk, openDesk, run } from './support/run.ts'

const test = onSqlite('place of the file')

const nobody = 65_534
const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('The tests of commands that root runs are skipped: they need root.')

/** A folder of another user with a database that root created, as happens by mistake or by a package script. */
const foreignDesk = async (): Promise<Desk> => {
  const own = await openDesk(run)
  await addUser(own)
  for (const name of readdirSync(own.folder)) chownSync(join(own.folder, name), nobody, nobody)
  chownSync(own.folder, nobody, nobody)
  return own
}

const ownersIn = (folder: string): readonly number[] => [
  ...new Set(readdirSync(folder).map((name) => statSync(join(folder, name)).uid)),
]

/** Runs the command as the service would: as the owner of the folder. */
const runAsNobody = async (desk: Desk, words: readonly string[]) => {
  const child = Bun.spawn(
    [programAt('setpriv'), `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', ...programCommand, ...words],
    { env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: `file:${desk.file}` }, stdout: 'pipe', stderr: 'pipe' },
  )
  const stderr = await new Response(child.stderr).text()
  return { exitCode: await child.exited, stderr }
}

needs('setpriv').test.skipIf(!isRoot || onPostgres)(
  'a database that root restores from its own backup, also into a new folder, belongs to the owner of the folder, whose service can open it',
  async () => {
    const desk = await foreignDesk()
    const vault = temporaryFolder() // of root, 0700
    chmodSync(vault, 0o700)
    const backup = join(vault, 'backup.db')
    const source = await openDesk(run)
    await addUser(source)
    await source.json(['backup', backup])
    expect(statSync(backup).uid).toBe(0)

    await desk.json(['restore', backup])
    expect(ownersIn(desk.folder)).toEqual([nobody])
    expect(statSync(desk.file).mode & 0o777).toBe(0o600)
    expect(readdirSync(desk.folder).filter((name) => name.includes('.unfinished'))).toEqual([])
    expect(await runAsNobody(desk, ['user', 'list'])).toEqual({ exitCode: 0, stderr: '' })

    const elsewhere = deskAt(join(desk.folder, 'new', 'app-platform.db'), run)
    expect(await elsewhere.json(['restore', backup])).toMatchObject({ predecessor: 'missing' })
    expect(await runAsNobody(elsewhere, ['user', 'list'])).toEqual({ exitCode: 0, stderr: '' })
  },
)

test.skipIf(!isRoot)('no command that root runs leaves a file of root in the folder of another user', async () => {
  const desk = await foreignDesk()
  const commands = [
    ['user', 'list'],
    ['migrate'],
    ['check'],
    ['purge'],
    ['backup', join(desk.folder, 'copy.db')],
    ['recover', '--accept-loss'],
  ]
  for (const words of commands) {
    expect(await desk.run(words)).toMatchObject({ exitCode: 0, stderr: '' })
    expect([words, ownersIn(desk.folder)]).toEqual([words, [nobody]])
  }
  const server = Bun.spawn([...programCommand, 'serve', '--port', '0', '--json', '--database', desk.file], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  for await (const _ of server.stdout) break // it listens
  expect(ownersIn(desk.folder)).toEqual([nobody])
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  expect(ownersIn(desk.folder)).toEqual([nobody])
})

test.skipIf(!isRoot)('root does not follow a link of the folder owner to a database of somebody else', async () => {
  const desk = await foreignDesk()
  const precious = await openDesk(run) // of root
  const folder = join(desk.folder, 'linked')
  mkdirSync(folder, { mode: 0o700 })
  symlinkSync(precious.file, join(folder, 'app-platform.db'))
  chownSync(folder, nobody, nobody)
  const { exitCode, stderr } = await deskAt(join(folder, 'app-platform.db'), run).run(['recover', '--accept-loss'])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: [^\n]+\n$/)
  const { data } = await precious.json(['audit', 'list'])
  expect(data).toEqual([])
})

test.skipIf(!isRoot)(
  'through a link in a folder of root, root acts as the owner of the folder where it leads',
  async () => {
    const desk = await foreignDesk()
    const link = join(temporaryFolder(), 'app-platform.db')
    chmodSync(join(link, '..'), 0o755)
    symlinkSync(desk.file, link)
    await deskAt(link, run).json(['purge'])
    expect(ownersIn(desk.folder)).toEqual([nobody])
  },
)

test.skipIf(!isRoot)('an error about a forbidden file names the file, its owner and the acting user', async () => {
  const desk = await foreignDesk()
  const vault = temporaryFolder()
  chmodSync(vault, 0o700)
  const { exitCode, stderr } = await desk.run(['backup', join(vault, 'copy.db')])
  expect(exitCode).toBe(1)
  expect(stderr).toContain('acts as nobody')
  expect(stderr).toContain(vault)
})

test.skipIf(!isRoot)(
  'a folder for backups that this user may not make is named with the command that makes it',
  async () => {
    const desk = await foreignDesk()
    const vault = temporaryFolder()
    chmodSync(vault, 0o755)
    const backups = join(vault, 'backups')
    const { stderr } = await desk.run(['backup', backups, '--keep', '14'])
    expect(stderr).toContain(`may not make ${backups}`)
    const [command = ''] = /install -d [^\n]+(?= first)/.exec(stderr) ?? []
    expect(Bun.spawnSync(['sh', '-c', command]).exitCode).toBe(0)
    expect(await desk.run(['backup', backups, '--keep', '14'])).toMatchObject({ exitCode: 0, stderr: '' })
  },
)
