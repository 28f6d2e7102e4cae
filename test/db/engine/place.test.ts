import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
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

const damaged = (folder: string): string =>
  `${folder}/app.db is damaged: restore a backup with app-platform restore FILE.`

/** What a restore may replace. */
const replaceable = new Set(['a file that is no database', 'a file that ends too early', 'pages of zeros', 'a database of another program']) // prettier-ignore

/** What makes the folder "$1", which has a copy of the database in "$2", unusable, and what every command says of it. */
const faultsOfPlaces: Readonly<Record<string, readonly [shell: string, sentence: (folder: string) => string]>> = {
  'a read-only file system': [
    'mount -t tmpfs -o size=64m,mode=700 none "$1" && cp -a "$2"/. "$1" && chown -R 65534:65534 "$1" && mount -o remount,ro "$1"',
    (folder) => `mounted read-only: run mount -o remount,rw ${folder}.`,
  ],
  'a read-only file system of root': [
    'mount -t tmpfs -o size=64m,mode=700 none "$1" && cp -a "$2"/. "$1" && mount -o remount,ro "$1"',
    (folder) => `mounted read-only: run mount -o remount,rw ${folder}.`,
  ],
  'a folder that may not be written': [
    'cp -a "$2"/. "$1" && chown -R 65534:65534 "$1" && chmod 500 "$1"',
    (folder) => `${folder} belongs to nobody (mode 0500), and this command acts as nobody: run chmod u+rwx ${folder}.`,
  ],
  'a file of another user': [
    'cp -a "$2"/. "$1" && chown -R 65534:65534 "$1" && chown 0 "$1/app.db"',
    (folder) => `${folder}/app.db belongs to root (mode 0600), and this command acts as nobody: run it as the owner`,
  ],
  'a disk without room': [
    'mount -t tmpfs -o size=4m,mode=700 none "$1" && cp -a "$2"/. "$1" && ! dd if=/dev/zero of="$1/ballast" bs=4096 2>/dev/null',
    (folder) => `The disk of ${folder}/app.db is full, as df -h ${folder} shows: make room.`,
  ],
  'a disk without free inodes': [
    'mount -t tmpfs -o size=64m,mode=700,nr_inodes=$(($(ls "$2" | wc -l) + 2)) none "$1" && cp -a "$2"/. "$1"',
    (folder) => `The disk of ${folder}/app.db has room but too few free inodes, as df -i ${folder} shows`,
  ],
  'a file that its owner may not write': [
    'cp -a "$2"/. "$1" && chown -R 65534:65534 "$1" && chmod 400 "$1/app.db"',
    (folder) => `Its owner may not read and write ${folder}/app.db: run chmod 600 ${folder}/app.db.`,
  ],
  'a file that ends too early': ['cp -a "$2"/. "$1" && truncate -s 20000 "$1/app.db"', damaged],
  'pages of zeros': [
    'cp -a "$2"/. "$1" && dd if=/dev/zero of="$1/app.db" bs=4096 seek=2 count=60 conv=notrunc 2>/dev/null',
    damaged,
  ],
  'a database of another program': [
    'cp "$2/other" "$1/app.db"',
    (folder) => `${folder}/app.db is not a database of this program.`,
  ],
  'a file that is no database': [
    'cp -a "$2"/. "$1" && rm "$1"/* && head -c 65536 /dev/zero | tr "\\0" x > "$1/app.db" && chmod 600 "$1/app.db"',
    (folder) => `${folder}/app.db cannot be read as an SQLite database: correct the path, or restore a backup`,
  ],
}

describe('every command tells a fault by its cause, in one sentence with a remedy, and calls a healthy database not damaged:', () => {
  test.skipIf(!mayMount).each(Object.keys(faultsOfPlaces))('%s', async (fault) => {
    const [shell, sentenceOf] = faultsOfPlaces[fault] ?? ['false', () => '']
    const seed = join(await made(), '..')
    const [whole, backups] = [join(seed, 'app.db'), temporaryFolder()]
    renameSync(join(seed, 'app-platform.db'), whole)
    const backup = join(backups, 'copy.db')
    expect((await runProgram(['backup', backup, '--database', whole])).code).toBe(0)
    using other = new Database(join(seed, 'other'))
    other.run('CREATE TABLE t (a)')
    chmodSync(join(seed, 'other'), 0o600)
    chmodSync(backups, 0o755)
    chmodSync(backup, 0o644)
    const open = temporaryFolder()
    chmodSync(open, 0o777)
    const commands = [
      ['check'],
      ['migrate'],
      ['user', 'list'],
      ['purge'],
      ['backup', join(open, 'new.db')],
      ['serve', '--port', '0'],
      ['recover', '--accept-loss'],
      ...(replaceable.has(fault) ? [] : [['restore', backup]]),
    ]
    for (const command of commands) {
      const folder = temporaryFolder()
      const ran = await runProgram([...command, '--database', join(folder, 'app.db')], after(shell, folder, seed))
      const told = ran.stderr.split('\n').filter((line) => line !== '')
      expect({ command, code: ran.code, stdout: ran.stdout, lines: told.length }).toEqual({
        command,
        code: 1,
        stdout: '',
        lines: 1,
      })
      expect(told[0]).toContain(sentenceOf(folder))
      if (sentenceOf !== damaged) expect(told[0]).not.toContain('damaged')
    }
  })

  test('a limit of open files that is just too low', async () => {
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

  test.skipIf(!mayMount)('a backup is checked where nobody may write', async () => {
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
  const running = left.replace(`.${child.pid}-`, `.${process.pid}-`)
  expect(running).not.toBe(left)
  writeFileSync(join(folder, running), '')

  expect((await runProgram(['backup', join(folder, 'second.db'), '--database', file])).code).toBe(0)
  expect(unfinished()).toEqual([running])
})
