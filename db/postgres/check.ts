import { malformedKeys } from '../malformed-keys.ts'
import { type Link, sessionSettings } from './link.ts'
import type { PostgresMigration } from './schema.ts'
import { DatabaseUnusable } from '../database.ts'
import { type Places, pooled } from '../faults/postgres.ts'

/** What is wrong with the tables, their keys and the artifacts of versions, in plain sentences. Reads every row of these. */
export const findTableFaults = async (link: Link, migrations: readonly PostgresMigration[]) => {
  const different = await differences(link, migrations)
  if (different.length > 0)
    return different.map((name) => `${name} in the PostgreSQL database is not as this program made it.`)
  return [...(await damagedKeys(link)), ...(await damagedArtifacts(link))]
}

/** Tables, columns, constraints and indexes of the current schema, each as one line of text. */
const shapeText = `
  SELECT c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod) || ' ' || coalesce(l.collname, '') || ' ' || a.attnotnull
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT c.relname || ': ' || n.conname, pg_get_constraintdef(n.oid)
    FROM pg_constraint n JOIN pg_class c ON c.oid = n.conrelid WHERE n.connamespace = current_schema()::regnamespace
  UNION ALL
  SELECT indexname, replace(indexdef, ' ' || quote_ident(schemaname) || '.', ' ') FROM pg_indexes
    WHERE schemaname = current_schema()
  UNION ALL
  SELECT c.relname || ': ' || t.tgname, 'trigger' FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal`

/** The names of what differs from the schema that the migrations make. That is made beside it, and undone. */
const differences = async (link: Link, migrations: readonly PostgresMigration[]): Promise<readonly string[]> => {
  const shape = async () => (await link.send(shapeText, [])).rows.map(([name, is]) => `${String(name)}\n${String(is)}`)
  const there = new Set(await shape())
  await link.send('BEGIN READ WRITE', []) // also where changes are refused by default: this one is undone
  try {
    await link.sendAll('CREATE SCHEMA app_platform_check; SET LOCAL search_path = app_platform_check')
    for (const { sql } of migrations) await link.sendAll(sql)
    const made = new Set(await shape())
    const names = [...made.symmetricDifference(there)].map((line) => line.split('\n')[0] ?? '')
    return [...new Set(names)].filter((name) => !name.startsWith('schema_migrations')) // made before the first migration
  } finally {
    await link.send('ROLLBACK', [])
  }
}

const damagedKeys = async (link: Link): Promise<readonly string[]> => {
  const faults: string[] = []
  for (const { table, text } of malformedKeys("key ~ '[^0-9A-Za-z]'")) {
    const [[count] = []] = (await link.send(text, [])).rows
    if (count !== 0) faults.push(`A key in ${table} is damaged: restore a backup.`)
  }
  return faults
}

const artifactsText = `
  SELECT min(apps.slug || ' ' || versions.version) FROM artifacts
    JOIN versions ON versions.artifact_sha256 = artifacts.sha256 JOIN apps ON apps.id = versions.app_id
    GROUP BY artifacts.sha256
    HAVING NOT EXISTS (
      SELECT FROM artifact_chunks WHERE artifact_chunks.sha256 = artifacts.sha256
      HAVING coalesce(sum(length(data)), 0) = artifacts.size_bytes
        AND sha256(coalesce(string_agg(data, ''::bytea ORDER BY position), ''::bytea)) = artifacts.sha256)
    ORDER BY 1`

/** The artifacts of versions that are not what was uploaded. */
const damagedArtifacts = async (link: Link): Promise<readonly string[]> =>
  (await link.send(artifactsText, [])).rows.map(
    ([example]) => `The artifact of ${String(example)} is damaged: restore a backup, or upload it again.`,
  )

const oldestMajor = 15

/** Others speak the protocol of PostgreSQL, and were not tested. */
const others = /cockroach|yugabyte|-yb-|redshift|greenplum|citus|edb|aurora|materialize|cratedb|questdb/i

const notLost = 'so a power cut would lose what was acknowledged: run ALTER SYSTEM SET'
const anywhere = 'run ALTER SYSTEM, ALTER DATABASE or ALTER ROLE with RESET'

/** Settings that no session of ours may change: what they must be, and what is said otherwise, before their name. */
const demanded: readonly (readonly [setting: string, value: string, words: (setting: string) => string])[] = [
  ['fsync', 'on', (setting) => `${notLost} ${setting} = on`],
  ['full_page_writes', 'on', (setting) => `${notLost} ${setting} = on`],
  ['session_replication_role', 'origin', (setting) => `so references are not checked: ${anywhere} ${setting}`],
  ['zero_damaged_pages', 'off', (setting) => `so damaged rows would vanish without a word: ${anywhere} ${setting}`],
  ['ignore_checksum_failure', 'off', (setting) => `so damaged rows would be read as right: ${anywhere} ${setting}`],
]

const text = `SELECT version(), current_setting('server_version_num')::int, pg_encoding_to_char(encoding), current_setting('lock_timeout'),
  ${demanded.map(([setting]) => `current_setting('${setting}')`).join(', ')} FROM pg_database WHERE datname = current_database()`

/** @throws DatabaseUnusable if the server is too old, another product, or would lose acknowledged changes */
export const assertServer = async (link: Link, at: Places): Promise<void> => {
  const { place } = at
  const [version = '', number, encoding, lockTimeout, ...values] = (await link.send(text, [])).rows[0] ?? []
  const name = String(version)
  if (!name.startsWith('PostgreSQL ') || others.test(name)) {
    throw refused(`${name.split(' ')[0] || 'The server'} at ${place} is not PostgreSQL, and was not tested.`)
  }
  if (Math.floor(Number(number) / 10_000) < oldestMajor) {
    throw refused(`The server at ${place} is older than PostgreSQL ${oldestMajor}: upgrade it.`)
  }
  for (const [index, [setting, value, words]] of demanded.entries()) {
    const found = values[index]
    if (found !== value)
      throw refused(`PostgreSQL at ${place} runs with ${setting}=${String(found)}, ${words(setting)}.`)
  }
  if (lockTimeout !== sessionSettings.lock_timeout) throw pooled(at)
  if (encoding !== 'UTF8') {
    throw refused(
      `The database at ${place} does not have the encoding UTF8: make it with createdb --encoding UTF8 --template template0 NAME.`,
    )
  }
}

const refused = (sentence: string) => new DatabaseUnusable('unsupported', sentence)
