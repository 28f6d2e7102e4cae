import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { straceWorks } from '../../faults/power-loss/recording.ts'
import { programCommand } from '../../support/program.ts'
import { runProgram } from '../../support/run-program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const isRoot = process.getuid?.() === 0
const mayMount = isRoot && Bun.spawnSync(['unshare', '-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).exitCode === 0
const traceable = straceWorks()
if (!isRoot) console.warn('The tests of files of another user are skipped: they need root.')
if (!mayMount) console.warn('The tests of mounted files and of inodes are skipped: they need the right to mount.')
if (!traceable) console.warn('The test of a new folder is skipped: it needs strace and the right to trace.')

const made = async (): Promise<string> => {
  const file = join(temporaryFolder(), 'app-platform.db')
  expect((await runProgram(['migrate', '--database', file])).code).toBe(0)
  return file
}

/** The sentence with which the server refuses to start. */
const refusalOf = async (file: string, under: readonly string[] = []): Promise<string> => {
  const { code, stdout, stderr } = await runProgram(['serve', '--port', '0', '--database', file], under)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^error: [^\n]+\.\n$/)
  expect(stderr).not.toMatch(/SQLITE_|Error:/)
  return stderr
}

const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
const ofNobody = async (): Promise<string> => {
  const file = await made()
  for (const part of ['-wal', '-shm']) writeFileSync(file + part, '', { mode: 0o600 })
  chownSync(join(file, '..'), 65_534, 65_534)
  for (const name of readdirSync(join(file, '..'))) chownSync(join(file, '..', name), 65_534, 65_534)
  return file
}

/** Runs in its own mount namespace, so that its mounts end with it. */
const after = (mount: string, ...words: readonly string[]): readonly string[] =>
  ['unshare', '-m', 'sh', '-c', `${mount} && shift ${words.length} && exec "$@"`, 'sh'].concat(words)

describe('a server does not start, and says what to do,', () => {
  test('if its lock file is not one', async () => {
    const file = await made()
    writeFileSync(`${file}.lock`, 'a shopping list, not a lock\n'.repeat(40), { mode: 0o600 })
    expect(await refusalOf(file)).toContain(`remove it with rm ${file}.lock`)
  })

  test.each(['-wal', '-shm', '.lock', '.acknowledged'])('if …%s is a pipe or a folder', async (part) => {
    const file = await made()
    rmSync(file + part, { force: true })
    expect(Bun.spawnSync(['mkfifo', file + part]).exitCode).toBe(0)
    expect(await refusalOf(file)).toContain(`${file}${part} is a folder, a link, a pipe or a device`)
    rmSync(file + part)
    mkdirSync(file + part)
    expect(await refusalOf(file)).toContain(`${file}${part} is a folder, a link, a pipe or a device`)
  })

  test.skipIf(!isRoot).each(['', '-wal', '-shm', '.lock', '.acknowledged'])(
    'if …%s belongs to another user',
    async (part) => {
      const file = await ofNobody()
      if (!existsSync(file + part)) writeFileSync(file + part, '', { mode: 0o600 })
      chownSync(file + part, 0, 0)
      const refusal = await refusalOf(file, asNobody)
      expect(refusal).toContain(`${file}${part} belongs to root (mode 0600), and this command acts as nobody`)
      expect(refusal).toContain(`chown nobody ${file}${part}`)
    },
  )

  test.skipIf(!isRoot)('if its own user may not write a file', async () => {
    const file = await ofNobody()
    chmodSync(`${file}-wal`, 0o400)
    expect(await refusalOf(file, asNobody)).toContain(`run chmod 600 ${file}-wal`)
  })

  test.skipIf(!mayMount)('if its file is mounted without its folder, as containers do', async () => {
    const [source, target] = [await made(), join(temporaryFolder(), 'a file.db')]
    writeFileSync(target, '', { mode: 0o600 })
    const refusal = await refusalOf(target, after('mount --bind "$1" "$2"', source, target))
    expect(refusal).toContain(`${target} is mounted by itself`)
    expect(refusal).toContain('mount its folder instead')
  })

  test.skipIf(!mayMount).each([1, 2, 3, 4])('if its disk has only %d free inodes', async (free) => {
    const folder = temporaryFolder()
    const disk = after(`mount -t tmpfs -o size=16m,mode=0700,nr_inodes=${free + 1} none "$1"`, folder)
    const refusal = await refusalOf(join(folder, 'app-platform.db'), disk)
    expect(refusal).toContain(`too few free inodes, as df -i ${folder} shows`)
  })
})

test.skipIf(!traceable)('a new folder of a database is durable before anything in it is acknowledged', async () => {
  const base = temporaryFolder()
  const log = join(temporaryFolder(), 'strace.log')
  const traced = ['strace', '-f', '-qq', '-y', '-e', 'trace=fsync', '-o', log]
  const file = join(base, 'new', 'data', 'app-platform.db')
  expect((await runProgram(['migrate', '--database', file], traced)).code).toBe(0)
  const synced = [...readFileSync(log, 'utf8').matchAll(/fsync\(\d+<([^>]+)>/g)].map(([, path]) => path)
  for (const folder of [base, join(base, 'new'), join(base, 'new', 'data')]) expect(synced).toContain(folder)
})

test('a backup removes what killed ones left, and nothing of one that runs', async () => {
  const file = await made()
  {
    using database = new Database(file)
    database.run('PRAGMA foreign_keys = OFF')
    const insert = database.prepare(
      'INSERT INTO artifact_chunks (sha256, position, data) VALUES (randomblob(32), 0, ?)',
    )
    for (let index = 0; index < 300; index += 1) insert.run(new Uint8Array(262_144).fill(index))
    insert.finalize()
  }
  const folder = temporaryFolder()
  const unfinished = () => readdirSync(folder).filter((name) => name.includes('.unfinished'))
  const child = Bun.spawn([...programCommand, 'backup', join(folder, 'first.db'), '--database', file], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  while (unfinished().length === 0 && child.exitCode === null) await Bun.sleep(1)
  child.kill('SIGKILL')
  await child.exited
  const [left = ''] = unfinished()
  expect(left).toStartWith('first.db.')
  const running = left.replace(`.${child.pid}-`, `.${process.pid}-`)
  expect(running).not.toBe(left)
  writeFileSync(join(folder, running), '')

  expect((await runProgram(['backup', join(folder, 'second.db'), '--database', file])).code).toBe(0)
  expect(unfinished()).toEqual([running])
})
