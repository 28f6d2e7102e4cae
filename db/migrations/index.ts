import type { Migration } from '../migrate.ts'
import initial from './0001_initial.sql' with { type: 'text' }
import pages from './0002_pages.sql' with { type: 'text' }

/** Every step of the schema, in order, embedded in the program. Append only: a released step never changes. */
export const migrations: readonly Migration[] = [
  { id: 1, name: 'initial', sql: initial, sha256: 'ca59495407a3732c2f14815f7addac6998d5f597a56473cc384825dcb015295d' },
  { id: 2, name: 'pages', sql: pages, sha256: '808587c88897f657bb4d3fdf7d9e309804bb01a36f80f8cea6ad32f0d98bf0f5' },
]
