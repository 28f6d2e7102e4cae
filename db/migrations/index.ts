import type { Migration } from '../migrate.ts'
import initial from './0001_initial.sql' with { type: 'text' }
import pages from './0002_pages.sql' with { type: 'text' }

/** Every step of the schema, in order, embedded in the program. Append only: a released step never changes. */
export const migrations: readonly Migration[] = [
  { id: 1, name: 'initial', sql: initial, sha256: 'ca59495407a3732c2f14815f7addac6998d5f597a56473cc384825dcb015295d' },
  { id: 2, name: 'pages', sql: pages, sha256: '2c41ebf42602624508c4c8845a1e0bff1033b753dc8ac6429126d769469ee969' },
]
