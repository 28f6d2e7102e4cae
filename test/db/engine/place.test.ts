import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { straceWorks } from '../../faults/power-loss/recording.ts'
import { after, isRoot, mayMount } from '../../support/places.ts'
import { needs } from '../../support/needs.ts'
import { programCommand } from '../../support/program.ts'
import { runProgram } from '../../support/run-program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const traceable = straceWorks()
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
  // The log may say before that the tables were made.
  expect(stderr.replace(/^\{"at".*"event":"database\.migrated".*\n/m, '')).toMatch(/^error: [^\n]+\.\n$/)
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

describe('a command', () => {
  test('names a limit of open files that is just too low', async () => {
    const file = await made()
    for (const command of [['check'], ['user', 'list'], ['recover', '--accept-loss']]) {
      for (let limit = 16; ; limit -= 1) {
        const under = ['sh', '-c', `ulimit -n ${limit} && exec "$@"`, 'sh']
        const { code, stderr } = await runProgram([...command, '--database', file], under)
        if (code === 0) continue
        expect({ command, code, stderr }).toEqual({
          command,
          code: 1,
          stderr: 'error: No more files may be open: raise the limit with LimitNOFILE= in the unit, or ulimit -n.\n',
        })
        break
      }
    }
  })

  test.skipIf(!mayMount)('checks a backup where nobody may write', async () => {
    const [file, folder] = [await made(), temporaryFolder()]
    const backups = temporaryFolder()
    expect((await runProgram(['backup', join(backups, 'copy.db'), '--database', file])).code).toBe(0)
    const readOnly = 'mount -t tmpfs -o size=64m,mode=700 none "$1" && cp -a "$2"/. "$1" && mount -o remount,ro "$1"'
    expect(await runProgram(['check', join(folder, 'copy.db')], after(readOnly, folder, backups))).toMatchObject({
      code: 0,
      stderr: '',
    })
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
  const running = left.replace(`-${child.pid}-`, `-${process.pid}-`)
  expect(running).not.toBe(left)
  writeFileSync(join(folder, running), '')
  // In another container the same number is another process.
  const elsewhere = left.replace(/\.[0-9a-f]{8}-/, '.00000000-')
  expect(elsewhere).not.toBe(left)
  writeFileSync(join(folder, elsewhere), '')

  expect((await runProgram(['backup', join(folder, 'second.db'), '--database', file])).code).toBe(0)
  expect(unfinished().toSorted()).toEqual([running, elsewhere].toSorted())
})

needs('setpriv').test.skipIf(process.getuid?.() !== 0)(
  'a copy gets its name also where no file can have a second one, and never replaces another file',
  async () => {
    // The kernel lets nobody link to a file of somebody else (proc_sys_fs(5), protected_hardlinks), as a stick lets nobody link at all.
    const folder = temporaryFolder()
    chmodSync(folder, 0o777)
    const run = async (target: string) => {
      writeFileSync(join(folder, 'copy'), 'whole', { mode: 0o600 })
      const code = `const { claimName } = await import(${JSON.stringify(join(import.meta.dir, '../../../db/backup.ts'))}); process.seteuid(65534); try { claimName(${JSON.stringify(join(folder, 'copy'))}, ${JSON.stringify(target)}); console.log('kept') } catch (error) { console.log(error.kind) }`
      return await new Response(Bun.spawn([process.execPath, '-e', code], { stderr: 'inherit' }).stdout).text()
    }
    expect(await run(join(folder, 'backup.db'))).toBe('kept\n')
    expect(readFileSync(join(folder, 'backup.db'), 'utf8')).toBe('whole')
    writeFileSync(join(folder, 'other.db'), 'other')
    expect(await run(join(folder, 'other.db'))).toBe('exists\n')
    expect(readFileSync(join(folder, 'other.db'), 'utf8')).toBe('other')
  },
)
