import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryName } from '../../db/sqlite/temporary.ts'
import { onSqlite } from '../support/engines.ts'
import { needs, programAt } from '../support/needs.ts'
import { programCommand } from '../support/program.ts'
import { runProgram } from '../support/run-program.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Desk, openDesk } from './support/run.ts'

const test = onSqlite('restore of a file')

/** A database of 60 MB, so that a signal can come while it is copied. */
const openLargeDesk = async (): Promise<Desk> => {
  const desk = await openDesk()
  using database = new Database(desk.file)
  database.run('PRAGMA foreign_keys = OFF')
  database.run(`WITH RECURSIVE pieces(place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM pieces WHERE place < 240)
    INSERT INTO artifact_chunks (sha256, position, data) SELECT randomblob(32), place, zeroblob(262144) FROM pieces`)
  return desk
}

const unfinishedIn = (...folders: readonly string[]): readonly string[] =>
  folders.flatMap((folder) => readdirSync(folder).filter((name) => name.includes('.unfinished')))

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

test('a signal during a backup, a restore or a move takes the private copies away, and nothing has changed', async () => {
  const desk = await openLargeDesk()
  const folder = temporaryFolder()
  const [good, target] = [join(folder, 'good.db'), join(folder, 'target.db')]
  await desk.json(['backup', good])
  const files = () => readdirSync(desk.folder).filter((name) => !/\.lock|-wal$|-shm$/.test(name))
  const before = files()
  for (const words of [
    ['backup', '-'],
    ['restore', good],
    ['move', '--to', target],
  ]) {
    for (const signal of signals) {
      const child = Bun.spawn([...programCommand, ...words, '--database', desk.file], {
        env: { PATH: process.env['PATH'] ?? '' },
        stdio: ['ignore', 'pipe', 'ignore'], // nobody reads: a backup to standard output waits
      })
      while (child.exitCode === null && unfinishedIn(desk.folder, folder).length === 0) await Bun.sleep(1)
      child.kill(signal)
      await child.exited
      expect({ words, signal: child.signalCode }).toEqual({ words, signal })
      expect(unfinishedIn(desk.folder, folder)).toEqual([])
      expect(existsSync(target)).toBe(false)
      expect(files()).toEqual(before)
    }
  }
  expect((await desk.run(['check'])).exitCode).toBe(0)
})

test('a server and a restore remove the whole copies that killed processes have left beside the database', async () => {
  const desk = await openDesk()
  const ended = Bun.spawn(['true'])
  await ended.exited
  const leave = () => {
    for (const suffix of ['', '-journal', '-wal', '-shm'])
      writeFileSync(temporaryName(desk.file, ended.pid) + suffix, 'private')
  }
  leave()
  const server = await startServer({ database: desk.file })
  expect(unfinishedIn(desk.folder)).toEqual([])
  expect(await server.stop()).toBe(0)
  const backup = join(temporaryFolder(), 'backup.db')
  await desk.json(['backup', backup])
  leave()
  const mine = temporaryName(desk.file)
  writeFileSync(mine, 'of a process that runs')
  await desk.json(['restore', backup])
  expect(unfinishedIn(desk.folder)).toEqual([mine.slice(desk.folder.length + 1)])
})

needs('bash').test('a copy that a limit or a quota refuses is not called a fault of the disk', async () => {
  const desk = await openDesk()
  const folder = temporaryFolder()
  const backup = join(folder, 'backup.db')
  await desk.json(['backup', backup])
  const kib = Math.floor(statSync(backup).size / 2048)
  const limited = [programAt('bash'), '-c', `ulimit -f ${kib}; exec "$@"`, 'bash']
  for (const [words, named] of [
    [['backup', join(folder, 'one.db')], 'one.db'],
    [['restore', backup, '--database', join(folder, 'two.db')], 'two.db'],
    [['move', '--to', join(folder, 'three.db')], 'three.db'],
  ] as const) {
    const at = words.includes('--database') ? words : [...words, '--database', desk.file]
    const { code, stderr } = await runProgram(at, limited)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('would be larger than a file may be here'),
    })
    expect(stderr).toContain(`${join(folder, named)} `)
    expect(readdirSync(folder).filter((name) => !name.endsWith('.lock'))).toEqual(['backup.db'])
  }
})

const mount = (...words: readonly string[]) => Bun.spawnSync(['mount', ...words], { stderr: 'ignore' }).exitCode === 0

test('a damaged backup where nobody writes is called damaged, and its place is not blamed', async () => {
  const desk = await openDesk()
  const folder = temporaryFolder()
  if (!mount('-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', folder)) return // only root may mount
  try {
    const backup = join(folder, 'backup.db')
    await desk.json(['backup', backup])
    const bytes = readFileSync(backup)
    writeFileSync(backup, bytes.fill(0x5a, 20_000, 60_000))
    writeFileSync(join(folder, 'none.db'), bytes.fill(0x5a, 0, 100), { mode: 0o600 })
    expect(mount('-o', 'remount,ro', folder)).toBe(true)
    for (const file of [backup, join(folder, 'none.db')]) {
      for (const words of [
        ['check', file],
        ['restore', file],
      ]) {
        const { stderr } = await desk.run(words)
        expect({ words, stderr }).toEqual({ words, stderr: expect.stringContaining('use another backup') })
        expect(stderr).not.toContain('read-only')
      }
    }
  } finally {
    Bun.spawnSync(['umount', folder])
  }
})

needs('strace').test('a copy beyond the quota of its user says so', async () => {
  const desk = await openDesk()
  const target = join(temporaryFolder(), 'copy.db')
  const inject = 'strace -f -qq -o /dev/null -e trace=pwrite64 -e inject=pwrite64:error=EDQUOT:when=20+'.split(' ')
  const { code, stderr } = await runProgram(['backup', target, '--database', desk.file], inject)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`used up the quota on the disk of ${target}`),
  })
  expect(readdirSync(dirname(target))).toEqual([])
})

needs('bash').test('a backup that would be lost is not made, and not recorded', async () => {
  const desk = await openDesk()
  for (const output of ['>&-', '>/dev/null']) {
    const line = `"$@" ${output}`
    const { code, stderr } = await runProgram(
      ['backup', '-', '--database', desk.file],
      [programAt('bash'), '-c', line, 'bash'],
    )
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Standard output is closed') })
  }
  const { data } = await desk.json(['audit', 'list'])
  expect(JSON.stringify(data)).not.toContain('database.backed_up')
})

const inBash = async (line: string) => await runProgram([], [programAt('bash'), '-c', line, 'bash'])

needs('bash').test('a path that is not UTF-8, and a relative one where there is no folder, name nothing', async () => {
  const folder = temporaryFolder()
  for (const line of [
    `cd ${folder} && "$@" check $'b\\xff.db'`,
    `cd ${folder} && "$@" migrate --database $'b\\xff.db'`,
    `cd ${folder} && DATABASE_URL=$'file:/tmp/b\\xff.db' "$@" migrate`,
    `cd ${folder} && DATABASE_URL=file:x.db BACKUP_DIRECTORY=$'/tmp/b\\xff' "$@" serve --port 0`,
  ]) {
    expect(await inBash(line)).toMatchObject({ code: 2, stderr: expect.stringContaining('not UTF-8') })
  }
  expect(readdirSync(folder)).toEqual([])
  const gone = join(folder, 'gone')
  const { code, stderr } = await inBash(`mkdir ${gone} && cd ${gone} && rmdir ${gone} && "$@" migrate`)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('was removed: change into another one') })
})
