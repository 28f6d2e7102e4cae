import type { PostgresMigration } from '../postgres/schema.ts'
import initial from './postgres/0001_initial.sql' with { type: 'text' }

/** Every step of the schema on PostgreSQL, in order. Append only. From 8 on, a step of SQLite has one here as well. */
export const postgresMigrations: readonly PostgresMigration[] = [
  { id: 1, name: 'initial', sql: initial, sha256: '7263376f6434cdbc0a06bb07ac938904500148f405fa4ef250df0c0a9777b49f' },
]
