import { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrateFile } from '../../db/migrate.ts'
import { migrations } from '../../db/migrations/index.ts'
import { recordId, rowKey } from '../../src/domain/identifier.ts'
import { createRandom } from '../../src/runtime/random.ts'
import { removeTemporaryFolders, temporaryFolder } from '../support/temporary-folder.ts'
import { markdownTable } from './markdown.ts'
import { environment } from './report.ts'

/*
 * Migration 7 gives integer keys to app tokens, grants, authorization codes and token pairs. Measures how long it takes, how large
 * the file is before and after, and what finding a row by its key costs. Usage: bun run bench:upgrade [--rows N]
 */

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } })
const rows = Number(values.rows)
if (!Number.isSafeInteger(rows) || rows < 1) throw new Error('--rows takes a whole number from 1 on.')
const lookups = 200_000
const minuteMs = 60_000

const random = createRandom()
const id = (prefix: 'crd_' | 'app_' | 'usr_') => recordId(prefix, random.uuid(Date.now()))

/** Fills a file of the schema before with rows of the last hour, and returns the keys of its app tokens. */
const fill = (file: string): readonly string[] => {
  using database = new Database(file)
  database.run('PRAGMA foreign_keys = OFF')
  database.run('PRAGMA synchronous = OFF')
  const [credential, app, user] = [id('crd_'), id('app_'), id('usr_')]
  const client = `apc_dev_${rowKey(random.uuid(Date.now()))}`
  const first = Date.now() - 60 * minuteMs
  database.run(`INSERT INTO users VALUES (?, 'a@example.com', 'A', NULL, 'none', 0, 'active', 0, 0, NULL)`, [user])
  database.run(`INSERT INTO apps VALUES (?, ?, 'App', 'app', 'active', 'site:read', NULL, 0, 0, NULL)`, [app, user])
  database.run(`INSERT INTO clients VALUES (?, ?, 'development', 0)`, [client, app])
  const request = `req_${'0'.repeat(32)}`
  const token = database.prepare(`INSERT INTO app_tokens VALUES (?, ?, ?, 'site:read store:read', ?, ?, NULL, ?, ?)`)
  const grant = database.prepare(
    `INSERT INTO grants VALUES (?, ?, ?, ?, 'profile:read site:read store:read', ?, ?, ?, NULL, NULL, NULL, NULL, NULL)`,
  )
  const code = database.prepare(
    `INSERT INTO authorization_codes VALUES (?, ?, ?, 'https://app.example/callback', ?, ?)`,
  )
  const pair = database.prepare(
    `INSERT INTO token_pairs VALUES (?, ?, ?, ?, ?, 'profile:read site:read store:read', ?, ?, ?, ?, ?)`,
  )
  const tokens: string[] = []
  database.run('BEGIN')
  for (let index = 0; index < rows; index += 1) {
    const at = first + Math.floor((index * 60 * minuteMs) / rows)
    const [tokenKey, codeId] = [rowKey(random.uuid(at)), random.uuid(at)]
    const [codeKey, grantId] = [rowKey(codeId), recordId('grt_', codeId)]
    const pairKey = rowKey(random.uuid(at))
    tokens.push(tokenKey)
    token.run(tokenKey, randomBytes(32), credential, at, at + 60 * minuteMs, request, '127.0.0.1')
    grant.run(grantId, user, app, client, pairKey, at, at + 60 * minuteMs)
    code.run(codeKey, randomBytes(32), grantId, 'c'.repeat(43), at)
    pair.run(
      pairKey,
      grantId,
      codeKey,
      randomBytes(32),
      randomBytes(32),
      at,
      at,
      at + 60 * minuteMs,
      request,
      '127.0.0.1',
    )
  }
  database.run('COMMIT')
  database.run('PRAGMA journal_mode = WAL')
  for (const statement of [token, grant, code, pair]) statement.finalize()
  return tokens
}

const processorMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Processor time of finding one of these rows, in microseconds; the better of two passes, so that the first one warms up. */
const lookupMicros = (file: string, table: string, keys: readonly (string | number)[]): number => {
  using database = new Database(file, { readonly: true })
  database.run('PRAGMA cache_size = -16384')
  const find = database.prepare<unknown, [string | number]>(`SELECT * FROM ${table} WHERE key = +?`)
  const passes = [0, 1].map(() => {
    const before = processorMs()
    for (const key of keys) find.values(key)
    return ((processorMs() - before) * 1000) / keys.length
  })
  find.finalize()
  return Math.min(...passes)
}

const megabytes = (file: string): number => Math.round(statSync(file).size / 1e6)

/** The size of a backup: without the free pages. */
const compactMegabytes = (file: string): number => {
  const copy = `${file}.compact`
  using database = new Database(file)
  rmSync(copy, { force: true })
  database.run('VACUUM INTO ?', [copy])
  return megabytes(copy)
}

const shuffled = <T>(items: readonly T[]): readonly T[] =>
  items
    .map((item, index) => ({ item, rank: Bun.hash.xxHash32(String(index)) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)

const file = join(temporaryFolder(), 'app-platform.db')
await migrateFile(file, migrations.slice(0, 6))
const textKeys = shuffled(fill(file)).slice(0, lookups)
const before = {
  file: megabytes(file),
  compact: compactMegabytes(file),
  lookup: lookupMicros(file, 'app_tokens', textKeys),
}
const [start, processor] = [performance.now(), processorMs()]
await migrateFile(file, migrations, ({ table, rows: copied, of }) => {
  process.stderr.write(`${((performance.now() - start) / 1000).toFixed(1)} s: ${table}, ${copied} of ${of}\n`)
})
const took = { seconds: (performance.now() - start) / 1000, processorSeconds: (processorMs() - processor) / 1000 }
const database = new Database(file, { readonly: true })
for (const table of ['app_tokens', 'grants', 'authorization_codes', 'token_pairs']) {
  const found = database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows
  if (found !== rows) throw new Error(`${table} has ${found} rows and not ${rows}.`)
}
const keys = database.query<{ key: number }, []>('SELECT key FROM app_tokens').all()
const integerKeys = shuffled(keys.map(({ key }) => key)).slice(0, lookups)

const { date, machine, bun } = environment()
const title = `Migration 7, ${rows.toLocaleString('en')} rows of each kind`
const { head, row } = markdownTable([title, 'text keys', 'integer keys'])
process.stdout.write(
  `${[
    `${date}, ${machine}, Bun ${bun}. The migration took ${took.seconds.toFixed(1)} s, ${took.processorSeconds.toFixed(1)} s of processor time.`,
    head,
    row(['file MB', String(before.file), String(megabytes(file))]),
    row(['its backup MB', String(before.compact), String(compactMegabytes(file))]),
    row(['CPU µs to find a token', before.lookup.toFixed(1), lookupMicros(file, 'app_tokens', integerKeys).toFixed(1)]),
  ].join('\n')}\n`,
)
database.close()
removeTemporaryFolders()
