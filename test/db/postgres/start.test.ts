import { expect } from 'bun:test'
import { askPostgres } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { runProgram } from '../../support/run-program.ts'

const { test } = needs('postgres')

const migrate = async (url: string) => {
  const { code, stdout, stderr } = await runProgram(['migrate', '--database', url])
  return { code, text: stdout + stderr }
}
/** A database that no migration has seen. */
const freshDatabase = async (name: string): Promise<string> => {
  const url = await postgresDatabase('start')
  await askPostgres(url, `CREATE DATABASE ${name}`, [])
  return url.replace(/\/t_\w+\?/, `/${name}?`)
}

test('an empty database gets its tables once', async () => {
  const url = await freshDatabase('empty')
  expect(await migrate(url)).toEqual({ code: 0, text: 'Applied initial.\n' })
  expect(await migrate(url)).toEqual({ code: 0, text: 'The schema is up to date.\n' })
  expect(await runProgram(['check', '--database', url])).toMatchObject({ code: 0 })
})

test('of several processes at once one makes the tables', async () => {
  const url = await freshDatabase('raced')
  const all = await Promise.all(Array.from({ length: 3 }, async () => await migrate(url)))
  expect(all.map(({ text }) => text).toSorted()).toEqual([
    'Applied initial.\n',
    'The schema is up to date.\n',
    'The schema is up to date.\n',
  ])
})

test('other tables, a newer schema, an unknown user or database, and a server that is not there end with one sentence', async () => {
  const foreign = await freshDatabase('foreign_tables')
  await askPostgres(foreign, 'CREATE TABLE theirs (a int)', [])
  const newer = await freshDatabase('newer')
  await migrate(newer)
  await askPostgres(newer, "INSERT INTO schema_migrations VALUES (2, 'later', 'x')", [])
  const refusals: readonly (readonly [string, string])[] = [
    [foreign, 'has tables that are not of this program'],
    [newer, 'was migrated by a newer version of this program (later)'],
    [newer.replace('app@', 'canary:canary@'), 'refuses the user or the password'],
    [newer.replace('/newer?', '/canary?'), 'has no database of the name'],
    ['postgres://canary:canary@127.0.0.1:1/canary', 'None of the hosts'],
    ['postgres://canary:canary@db.example/canary', 'sslmode=verify-full'],
  ]
  for (const [url, part] of refusals) {
    const { code, text } = await migrate(url)
    expect(text).toContain(part)
    expect(text).toMatch(/^error: [^\n]+\n$/)
    expect(text).not.toContain('canary')
    expect(code).toBe(1)
  }
})

test('a server that would lose acknowledged changes in a power cut is refused', async () => {
  const url = await freshDatabase('unsafe')
  const set = async (value: string) => {
    await askPostgres(url, `ALTER SYSTEM SET full_page_writes = ${value}`, [])
    await askPostgres(url, 'SELECT pg_reload_conf()', [])
    await Bun.sleep(300)
  }
  await set('off')
  try {
    expect((await migrate(url)).text).toContain('full_page_writes=off')
  } finally {
    await set('on')
  }
})

test.each(['backup x.db', 'restore x.db', 'move --to x.db', 'clock reset'])(
  '%s is for SQLite files, and names what PostgreSQL has instead',
  async (command) => {
    const { code, stderr } = await runProgram([...command.split(' '), '--database', 'postgres://a@localhost/b'])
    expect(code).toBe(2)
    expect(stderr).toContain('pg_dump')
  },
)
