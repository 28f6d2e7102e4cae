import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout } from 'bun:test'
import { closeSync, cpSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { onSqlite } from '../support/engines.ts'
import { after, mayMount } from '../support/places.ts'
import { runProgram } from '../support/run-program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { endings, everyOnFile } from './support/every-command.ts'
import type { Run } from './support/run.ts'
import { lists } from './support/together.ts'

setDefaultTimeout(240_000)

const test = onSqlite('place of the file')

// Every fault of a file or its place is made for real, and every command meets it.

const people = [
  ['user', 'create', 'ada@example.com', '--name', 'Ada', '--generate-password'],
  ['user', 'create', 'bob@example.com', '--name', 'Bob', '--generate-password', '--operator'],
  ['app', 'create', '--owner', 'ada@example.com', '--name', 'On', '--slug', 'on', '--scopes', 'profile:read'],
]

/** A database with people and an app, and a backup of it. */
const makeSeed = async () => {
  const [seed, backups] = [temporaryFolder(), temporaryFolder()]
  const [database, backup] = [join(seed, 'app.db'), join(backups, 'copy.db')]
  for (const words of [['migrate'], ...people, ['backup', backup]])
    expect((await runProgram([...words, '--database', database])).code).toBe(0)
  return { seed, backup }
}
let made: ReturnType<typeof makeSeed> | null = null

/** Runs every command on the database in a new folder, "$1", after a line of the shell that has the seed in "$2" has made it. */
const runAt = async (line: string, only = /./) => {
  const { seed, backup } = await (made ??= makeSeed())
  const folder = temporaryFolder()
  const child = Bun.spawn(
    [
      ...after(line, folder, seed),
      process.execPath,
      join(import.meta.dir, 'support/run-every-at.ts'),
      backup,
      only.source,
    ],
    { env: { ...process.env, DATABASE_URL: `file:${folder}/app.db` }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const found: (readonly [name: string, run: Run])[] = JSON.parse(await new Response(child.stdout).text())
  return { folder, found, ended: endings(found) }
}

const damaged = (folder: string): string =>
  `${folder}/app.db is damaged: restore a backup with app-platform restore FILE.`

type Fault = {
  readonly line: string
  readonly sentence: (folder: string) => string
  /** Whether a restore puts it right. */
  readonly isRestored?: boolean
}
const faults: Readonly<Record<string, Fault>> = {
  'a read-only file system': {
    line: 'mount -t tmpfs -o size=64m,mode=700 none "$1" && cp -a "$2"/. "$1" && chown -R 65534:65534 "$1" && mount -o remount,ro "$1"',
    sentence: (folder) =>
      `${folder}/app.db is on a file system that is mounted read-only: run mount -o remount,rw ${folder}. If the system made it read-only after a fault of the disk, dmesg says so.`,
  },
  'a folder that may not be written': {
    line: 'cp -a "$2"/. "$1" && chown -R 65534:65534 "$1" && chmod 500 "$1"',
    sentence: (folder) =>
      `${folder} belongs to nobody (mode 0500), and this command acts as nobody: run chmod u+rwx ${folder}.`,
  },
  'a file of another user': {
    line: 'cp -a "$2"/. "$1" && chown -R 65534:65534 "$1" && chown 0 "$1/app.db"',
    sentence: (folder) =>
      `${folder}/app.db belongs to root (mode 0600), and this command acts as nobody: run it as the owner, or give it to that user with chown nobody ${folder}/app.db.`,
  },
  'a file that its owner may not write': {
    line: 'cp -a "$2"/. "$1" && chown -R 65534:65534 "$1" && chmod 400 "$1/app.db"',
    sentence: (folder) => `Its owner may not read and write ${folder}/app.db: run chmod 600 ${folder}/app.db.`,
  },
  'a disk without room': {
    line: 'mount -t tmpfs -o size=4m,mode=700 none "$1" && cp -a "$2"/. "$1" && ! dd if=/dev/zero of="$1/ballast" bs=4096 2>/dev/null',
    sentence: (folder) => `The disk of ${folder}/app.db is full, as df -h ${folder} shows: make room.`,
  },
  'a disk without free inodes': {
    line: 'mount -t tmpfs -o size=64m,mode=700,nr_inodes=$(($(ls "$2" | wc -l) + 2)) none "$1" && cp -a "$2"/. "$1"',
    sentence: (folder) =>
      `The disk of ${folder}/app.db has room but too few free inodes, as df -i ${folder} shows: remove files that are not needed.`,
  },
  'pages of zeros': {
    line: 'cp -a "$2"/. "$1" && dd if=/dev/zero of="$1/app.db" bs=4096 seek=2 count=60 conv=notrunc 2>/dev/null',
    sentence: damaged,
    isRestored: true,
  },
}

test.skipIf(!mayMount).each(Object.keys(faults))(
  'every command and the server tell %s in one sentence, with path, cause and remedy, print nothing else, and end with 1',
  async (name) => {
    const fault = faults[name]
    if (fault === undefined) throw new Error(name)
    const { folder, found } = await runAt(fault.line)
    expect(found).toHaveLength(everyOnFile.length)
    const others = found.filter(([command]) => !(fault.isRestored === true && command === 'restore'))
    expect(endings(others)).toEqual({ [`1 error: ${fault.sentence(folder)}\n`]: others.map(([command]) => command) })
    for (const [, { exitCode }] of found.filter((one) => !others.includes(one))) expect(exitCode).toBe(0)
  },
)

/** What every opening reads. Damage there is met by all commands in the same place. */
const readByAll = ['schema_migrations', 'watermarks', 'audit_events', 'app_tokens', 'grants', 'authorization_codes', 'token_pairs'] // prettier-ignore
/** These read no damaged page, or refuse before they do. */
const readsNone = /^(migrate|clock reset|audit list|restore|resource import|credential rotate|endpoint add)$/
/** These read all pages. What SQLite finds follows the sentence. */
const readsAll = /^(check|recover|move)$/

test.skipIf(!mayMount)(
  'a damaged page is told by every command that reads it, in the same sentence, with 1',
  async () => {
    const { seed } = await (made ??= makeSeed())
    const folder = temporaryFolder()
    cpSync(seed, folder, { recursive: true })
    const file = join(folder, 'app.db')
    using database = new Database(file, { readonly: true })
    const roots = database
      .query<{ page: number }, []>(
        `SELECT rootpage AS page FROM sqlite_schema WHERE rootpage > 0 AND tbl_name NOT IN ('${readByAll.join("', '")}')`,
      )
      .all()
    const descriptor = openSync(file, 'r+')
    for (const { page } of roots) writeSync(descriptor, new Uint8Array(4_096), 0, 4_096, (page - 1) * 4_096)
    closeSync(descriptor)
    const { folder: place, found } = await runAt(`cp -a ${folder}/. "$1"`)
    const reading = found.filter(([name]) => !readsNone.test(name) && !readsAll.test(name))
    expect(endings(reading)).toEqual({ [`1 error: ${damaged(place)}\n`]: reading.map(([name]) => name) })
    for (const [name, { exitCode, stdout, stderr }] of found.filter(([name]) => readsAll.test(name))) {
      const first = stderr.slice(0, `error: ${damaged(place)}`.length)
      expect({ name, exitCode, stdout, first }).toEqual({
        name,
        exitCode: 1,
        stdout: '',
        first: `error: ${damaged(place)}`,
      })
    }
  },
)

test.each(['serve', 'check', 'backup', 'user list', 'app create'])(
  'a process that may open too few files says so: %s',
  async (name) => {
    const { seed } = await (made ??= makeSeed())
    const folder = temporaryFolder()
    cpSync(seed, folder, { recursive: true })
    const [, words = []] = everyOnFile.find(([command]) => command === name) ?? []
    const limited = ['sh', '-c', 'ulimit -n 9 && exec "$@"', 'sh']
    const { code, stdout, stderr } = await runProgram([...words, '--database', join(folder, 'app.db')], limited)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const sentence = 'No more files may be open: raise the limit with LimitNOFILE= in the unit, or ulimit -n.'
    expect(stderr).toEndWith(`error: ${sentence}\n`) // Bun may warn before that it cannot open the source map of the tests
  },
)

test('a process that gets too little memory for a hash ends without a sentence, and what it said before is kept', async () => {
  const { seed } = await (made ??= makeSeed())
  const folder = temporaryFolder()
  cpSync(seed, folder, { recursive: true })
  const database = join(folder, 'app.db')
  const list = async () => (await runProgram(['user', 'list', '--database', database])).stdout
  const codes: number[] = []
  for (const limit of ['200000', '300000', '400000', '500000', '600000', 'unlimited']) {
    const limited = ['sh', '-c', `ulimit -c 0 && ulimit -v ${limit} && exec timeout -s KILL 60 "$@"`, 'sh']
    const email = `memory-${limit}@example.com`
    const words = ['user', 'create', email, '--name', 'Ada', '--generate-password', '--database', database]
    const { code } = await runProgram(words, limited)
    codes.push(code)
    if (code === 0) expect(await list()).toContain(email)
  }
  expect(codes.at(0)).not.toBe(0)
  expect(codes.at(-1)).toBe(0)
  expect((await runProgram(['check', '--database', database])).code).toBe(0)
  const guide = await Bun.file(join(import.meta.dir, '../../src/guides/operate/troubleshooting.md')).text()
  expect(guide).toContain('## The process ends without a sentence\n\nStatus 134')
})

const reserve = 'head -c 2097152 /dev/urandom >"$1/app.db.reserve" && chmod 600 "$1/app.db.reserve"'

/** What reads, what copies elsewhere, and what ends access. */
const goesOn = [
  ...lists, 'app members', 'app show', 'check', 'user export', 'user sessions', 'user show',
  'backup', 'recover',
  'app delete', 'app end-access', 'app suspend', 'user disable', 'user end-access', 'user reset-factors', 'user sign-out',
] // prettier-ignore

test.skipIf(!mayMount)(
  'on a full disk with a reserve, what only reads and what ends access goes on, and everything else says what is full',
  async () => {
    const line = `mount -t tmpfs -o size=6m,mode=700 none "$1" && cp -a "$2"/. "$1" && ${reserve} && ! dd if=/dev/zero of="$1/ballast" bs=4096 2>/dev/null`
    const { folder, found, ended } = await runAt(line, /^(?!(serve|dev|restore|move)$)/)
    const full = `The disk of ${folder}/app.db is full, as df -h ${folder} shows: make room. Until then access can be ended, as long as that fits, and nothing else is written.`
    const done = found.filter(([, { exitCode }]) => exitCode === 0).map(([name]) => name)
    expect(done.toSorted()).toEqual(goesOn.toSorted())
    for (const [name, { exitCode, stdout, stderr }] of found.filter(([name]) => !goesOn.includes(name)))
      // Those that are about something that is not there say that.
      expect({ name, exitCode, stdout, stderr }).toEqual({ name, exitCode: 1, stdout: '', stderr: expect.stringMatching(/^error: [^\n]+\n$/) }) // prettier-ignore
    expect(ended[`1 error: ${full}\n`]).toEqual(expect.arrayContaining(['purge', 'user invite', 'app create', 'credential create', 'scope add'])) // prettier-ignore
    for (const ending of Object.keys(ended)) expect(ending).not.toMatch(/failed:|SQLITE_|damaged/)
  },
)
