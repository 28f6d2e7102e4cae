import { highestRowKey, rowKeyLength } from '../src/domain/identifier.ts'
import type { Connection } from './sqlite/connection.ts'

const tables = [
  'app_tokens',
  'token_pairs',
  'authorization_codes',
  'sessions',
  'form_tickets',
  'install_session_codes',
  'embedded_sessions',
]

/**
 * The tables with a row whose key is none, in plain sentences. To SQLite any text is as good as another, but a trail that
 * comes to such a row can tell nothing of it. Reads the keys of every row.
 */
export const damagedKeys = (connection: Connection): readonly string[] =>
  tables
    .filter((table) => connection.value(`SELECT count(*) FROM ${table} WHERE ${isNoKey}`) !== 0)
    .map((table) => `A key in ${table} is damaged: restore a backup.`)

const isNoKey = `length(key) <> ${rowKeyLength} OR key GLOB '*[^0-9A-Za-z]*' OR key > '${highestRowKey}'`
