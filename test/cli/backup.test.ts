import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { onSqlite } from '../support/engines.ts'
import { onPostgres } from '../support/postgres.ts'
import { needs, programAt } from '../support/needs.ts'
import { programCommand } from '../support/program.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, failureIn, openDesk } from './support/run.ts'

const test = onSqlite('restore of a file')

test('backup - writes a whole database to standard output and leaves no file behind', async () => {
  const desk = await openDesk()
  await addUser(desk)
  const before = readdirSync(desk.folder)
  const file = join(temporaryFolder(), 'copy.db')
  const child = Bun.spawn([...programCommand, 'backup', '-', '--database', desk.file], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  writeFileSync(file, new Uint8Array(await new Response(child.stdout).arrayBuffer()), { mode: 0o600 })
  expect(await new Response(child.stderr).text()).toBe('')
  expect(await child.exited).toBe(0)
  const copy = new Database(file, { readonly: true })
  expect(copy.query('SELECT email FROM users').values()).toEqual([['ada@example.com']])
  copy.close()
  expect((await desk.run(['check', file])).exitCode).toBe(0)
  expect(readdirSync(desk.folder).toSorted()).toEqual(before.toSorted())
})

const shell = (line: string) =>
  Bun.spawn([programAt('bash'), '-c', line], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdout: 'pipe',
    stderr: 'pipe',
  })

needs('bash', 'script').test.skipIf(onPostgres)(
  'backup - refuses a terminal and flags that do not apply, and fails if the reader stops early',
  async () => {
    const desk = await openDesk()
    for (const flag of ['--force', '--check', '--keep=2']) {
      expect(await desk.run(['backup', '-', flag])).toMatchObject({ exitCode: 2, stdout: '' })
    }
    const asJson = await desk.run(['backup', '-', '--json'])
    expect([asJson.exitCode, failureIn(asJson)]).toEqual([2, 'usage'])
    const command = [...programCommand, 'backup', '-', '--database', desk.file].join(' ')
    const terminal = shell(`script -qec '${command}' /dev/null`)
    expect(await new Response(terminal.stdout).text()).toContain('cannot be written to a terminal')
    expect(await terminal.exited).toBe(2)
    expect(await shell(`set -o pipefail; ${command} | true`).exited).not.toBe(0)
  },
)

test('backup DIR --keep removes only files that it named itself, and never the new one', async () => {
  const desk = await openDesk()
  const folder = join(temporaryFolder(), 'backups')
  mkdirSync(folder, { mode: 0o700 })
  const others = [
    'app-platform-2020.db',
    'other-2020-01-01T00-00-00.000Z.db',
    'app-platform-2020-01-01T00-00-00.000Z.txt',
  ]
  for (const name of others) writeFileSync(join(folder, name), 'precious')
  symlinkSync(desk.file, join(folder, 'app-platform-2020-01-01T00-00-00.000Z.db'))
  const future = 'app-platform-2999-01-01T00-00-00.000Z.db' // from a time when the clock was ahead
  writeFileSync(join(folder, future), 'old')
  const made: string[] = []
  for (let count = 0; count < 3; count += 1) {
    const { file, pruned } = await desk.json(['backup', folder, '--keep', '2', '--check'])
    expect(file).toMatch(/\/app-platform-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.db$/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(pruned).toHaveLength(count === 0 ? 0 : 1)
    made.push(file.split('/').at(-1))
  }
  expect(readdirSync(folder).toSorted()).toEqual(
    [...others, 'app-platform-2020-01-01T00-00-00.000Z.db', future, made[2] ?? ''].toSorted(),
  )
  expect((await desk.run(['backup', folder, '--keep', '0'])).exitCode).toBe(2)
  const likeFile = join(folder, 'copy.db')
  expect((await desk.run(['backup', likeFile, '--keep', '3'])).exitCode).toBe(2)
  expect(existsSync(likeFile)).toBe(false)
  // Without --keep nothing is removed.
  expect((await desk.json(['backup', folder])).pruned).toEqual([])
})

test('a backup is recorded in the audit log and in the metrics of a running server', async () => {
  const desk = await openDesk()
  const server = await startServer({ database: desk.file })
  const age = async () =>
    /^app_platform_backup_age_seconds (\S+)$/m.exec(await (await fetch(`${server.url}/metrics`)).text())?.[1] ?? null
  expect(await age()).toBeNull()
  const { recorded, sizeBytes } = await desk.json(['backup', join(temporaryFolder(), 'copy.db')])
  expect(recorded).toBe(true)
  expect(Number(await age())).toBeLessThan(60)
  expect(await age()).not.toBeNull()
  const { data } = await desk.json(['audit', 'list'])
  expect(data.at(-1)).toMatchObject({
    action: 'database.backed_up',
    actor: { kind: 'operator' },
    detail: { sizeBytes },
  })
  expect(await server.stop()).toBe(0)
})

test('of backups that are made at once into a folder, the newest stays', async () => {
  const desk = await openDesk()
  const folder = join(temporaryFolder(), 'backups')
  mkdirSync(folder, { mode: 0o700 })
  for (let round = 0; round < 3; round += 1) {
    const made = await Promise.all([1, 2, 3].map(async () => await desk.json(['backup', folder, '--keep', '1'])))
    const newest = made
      .map(({ file }) => String(file).split('/').at(-1) ?? '')
      .toSorted()
      .at(-1)
    expect(readdirSync(folder)).toContain(newest ?? 'none')
  }
})

test('backup DIR --keep removes nothing and fails when the database has lost changes, or the copy is damaged', async () => {
  const desk = await openDesk()
  await addUser(desk)
  await addApp(desk)
  const folder = join(temporaryFolder(), 'backups')
  const { file: good } = await desk.json(['backup', folder, '--keep', '1', '--check'])
  const sound = readFileSync(desk.file)
  await addUser(desk, 'second@example.com')
  writeFileSync(desk.file, sound) // loses what was acknowledged since
  const lost = await desk.run(['backup', folder, '--keep', '1', '--check', '--json'])
  expect([lost.exitCode, failureIn(lost)]).toEqual([1, 'command_failed'])
  expect(lost.stderr).toContain('has lost changes that were acknowledged')
  expect(lost.stderr).toContain('No older backup was removed')

  await desk.json(['recover', '--accept-loss'])
  const orphaned = new Database(desk.file)
  orphaned.run('PRAGMA foreign_keys = OFF')
  orphaned.run('DELETE FROM users')
  orphaned.close()
  const damaged = await desk.run(['backup', folder, '--keep', '1', '--check'])
  expect(damaged).toMatchObject({ exitCode: 1, stdout: '' })
  expect(damaged.stderr).toContain('refer to missing rows of users')
  expect(readdirSync(folder).toSorted()).toEqual([basename(good), 'app-platform-failed.db'].toSorted())
})
