import { expect } from 'bun:test'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { namesForDumps } from '../../../db/backup-folder.ts'
import { run, runHere } from '../../cli/support/run.ts'
import { askPostgres } from '../../support/beside.ts'
import { needs, programAt } from '../../support/needs.ts'
import { emptyPostgres, postgresDatabase } from '../../support/postgres.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const { test } = needs('postgres')

/** pg_dump and pg_restore are beside the server of the same version. */
const PATH = () => `${dirname(programAt('postgres'))}:${process.env['PATH'] ?? ''}`

const json = async (words: readonly string[], url: string) => {
  const { exitCode, stdout, stderr } = await runHere([...words, '--json'], { env: { PATH: PATH(), DATABASE_URL: url } })
  expect({ words, exitCode, stderr }).toEqual({ words, exitCode: 0, stderr: '' })
  return JSON.parse(stdout)
}
const refused = async (words: readonly string[], url: string, env: Readonly<Record<string, string>> = {}) => {
  const { exitCode, stdout, stderr } = await run(words, { env: { PATH: PATH(), DATABASE_URL: url, ...env } })
  expect({ words, exitCode, stdout }).toEqual({ words, exitCode: 1, stdout: '' })
  return stderr
}

const faultsOf = async (file: string): Promise<string> => (await run(['check', file], { env: { PATH: PATH() } })).stderr

test('backup of PostgreSQL writes a private dump, checks it, keeps the newest, records it, and the dump can be restored', async () => {
  const url = await postgresDatabase('dump')
  const folder = join(temporaryFolder(), 'backups')
  const { file, recorded } = await json(['backup', folder, '--keep', '1'], url)
  expect(recorded).toBe(true)
  expect(file).toMatch(/\/t_\w+-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.dump$/)
  expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600])
  const second = await json(['backup', folder, '--keep', '1'], url)
  expect(second.pruned).toEqual([file.split('/').at(-1)])
  expect(readdirSync(folder)).toEqual([second.file.split('/').at(-1)])
  const { data } = await json(['audit', 'list'], url)
  expect(data.filter(({ action }: { action: string }) => action === 'database.backed_up')).toHaveLength(2)

  // It is checked by itself: without the database, and without a setting.
  expect((await run(['check', second.file], { env: { PATH: PATH() } })).exitCode).toBe(0)
  const target = await emptyPostgres('restored-dump')
  const bin = dirname(programAt('postgres'))
  const restored = Bun.spawnSync([join(bin, 'pg_restore'), '--exit-on-error', '-d', target, second.file])
  expect(restored.stderr.toString()).toBe('')
  expect(await askPostgres(target, "SELECT 1 FROM audit_events WHERE action = 'database.backed_up'", [])).toHaveLength(
    1,
  )
})

test('backup - sends a dump to standard output, and an existing file is replaced only with --force', async () => {
  const url = await postgresDatabase('dump-stream')
  const file = join(temporaryFolder(), 'apps.dump')
  writeFileSync(file, 'precious', { mode: 0o600 })
  expect(await refused(['backup', file], url)).toContain('exists already')
  expect(readFileSync(file, 'utf8')).toBe('precious')
  await json(['backup', file, '--force'], url)
  const child = Bun.spawn(
    ['sh', '-c', `umask 077; ${[process.execPath, 'src/main.ts', 'backup', '-'].join(' ')} > ${file}.sent`],
    {
      env: { PATH: PATH(), DATABASE_URL: url },
      stderr: 'pipe',
    },
  )
  expect(await new Response(child.stderr).text()).toBe('')
  expect(await faultsOf(`${file}.sent`)).toBe('')
  expect(readdirSync(dirname(file)).toSorted()).toEqual(['apps.dump', 'apps.dump.sent'])
})

test('a dump that is cut off, changed, of another program, or lacks rows is refused by check in one sentence', async () => {
  const url = await postgresDatabase('dump-damage')
  const good = join(temporaryFolder(), 'apps.dump')
  await json(['backup', good], url)
  const bytes = readFileSync(good)
  const damaged = (name: string, content: Uint8Array) => {
    const file = join(dirname(good), name)
    writeFileSync(file, content, { mode: 0o600 })
    return file
  }
  const flipped = Buffer.from(bytes)
  flipped.fill(0xff, bytes.length - 28, bytes.length - 4) // in the rows of the last table
  for (const file of [
    damaged('cut.dump', bytes.subarray(0, Math.floor(bytes.length * 0.7))),
    damaged('head.dump', bytes.subarray(0, 400)),
    damaged('flipped.dump', flipped),
  ]) {
    const { exitCode, stderr } = await run(['check', file], { env: { PATH: PATH() } })
    expect({ file, exitCode, stderr }).toEqual({
      file,
      exitCode: 1,
      stderr: expect.stringMatching(/^error: \S+ is damaged, so it cannot be restored: [^\n]+\n$/),
    })
  }
  const bin = dirname(programAt('postgres'))
  const partial = join(dirname(good), 'partial.dump')
  Bun.spawnSync([join(bin, 'pg_dump'), '-Fc', '-T', 'users', '-f', partial, url])
  expect(await faultsOf(partial)).toBe(`error: ${partial} has no rows of users: make a dump of the whole database.\n`)
  for (const [words, missing] of [
    [['--exclude-table-data=credentials'], 'credentials'],
    [['-T', 'token_pairs', '-T', 'grants'], 'grants, token_pairs'],
    [['--exclude-table-data=watermarks', '-T', 'audit_positions'], 'audit_positions, watermarks'],
  ] as const) {
    Bun.spawnSync([join(bin, 'pg_dump'), '-Fc', ...words, '-f', partial, url])
    expect(await faultsOf(partial)).toContain(`has no rows of ${missing}: `)
  }
  Bun.spawnSync([join(bin, 'pg_dump'), '-Fc', '--schema-only', '-f', partial, url])
  expect(await faultsOf(partial)).toContain('has no rows of users, ')
  const foreign = join(dirname(good), 'foreign.dump')
  Bun.spawnSync([join(bin, 'pg_dump'), '-Fc', '-f', foreign, await emptyPostgres('dump-foreign')])
  expect(await faultsOf(foreign)).toContain('is a dump of another database')
  expect(await refused(['restore', good, '--database', 'file:/tmp/none.db'], url)).toContain(
    'restore it with pg_restore',
  )
})

test('dumps of two databases never have names alike, so that none is removed for the other', () => {
  const databases = ['apps', 'a/b', 'a_b', 'a b', 'ünï', 'önö', '_n_', 'x'.repeat(63), `${'x'.repeat(63)}y`, 'apps-a']
  const stems = databases.map((database) => namesForDumps(database).stem)
  expect(new Set(stems).size).toBe(databases.length)
  for (const stem of stems) expect(stem).toMatch(/^[\w-]{1,72}$/)
  expect(stems.slice(0, 1)).toEqual(['apps'])
})

test('a dump that cannot be made says why in one sentence, and leaves nothing behind', async () => {
  const url = await postgresDatabase('dump-refused')
  const folder = temporaryFolder()
  const only = join(folder, 'bin')
  const stand = (text: string) => {
    Bun.spawnSync(['mkdir', '-p', only])
    writeFileSync(join(only, 'pg_dump'), `#!/bin/sh\n${text}\n`)
    chmodSync(join(only, 'pg_dump'), 0o755)
    return { PATH: `${only}:${PATH()}` }
  }
  const target = join(folder, 'apps.dump')
  const bun = { PATH: dirname(process.execPath) }
  expect(await refused(['backup', target], url, bun)).toMatch(
    /^error: pg_dump is not installed on this machine: [^\n]+\n$/,
  )
  const older = stand('echo "pg_dump: error: aborting because of server version mismatch" >&2; exit 1')
  expect(await refused(['backup', target], url, older)).toMatch(
    /^error: The pg_dump of this machine is older than [^\n]+\n$/,
  )
  const failing = stand('echo "pg_dump: error: query failed: ERROR:  permission denied for table users" >&2; exit 1')
  expect(await refused(['backup', target], url, failing)).toMatch(
    /^error: pg_dump failed for PostgreSQL at \S+: query failed: [^\n]+\n$/,
  )
  expect(existsSync(target)).toBe(false)
  expect(readdirSync(folder)).toEqual(['bin'])
  const down = 'postgres://app:canary@127.0.0.1:1/apps'
  const sentence = await refused(['backup', target], down)
  expect(sentence).toBe(await refused(['check'], down))
  expect(sentence).not.toContain('canary')
})
