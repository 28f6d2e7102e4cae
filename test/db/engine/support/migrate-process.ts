import { migrate, migrateFile } from '../../../../db/migrate.ts'
import { migrations as ofThePlatform } from '../../../../db/migrations/index.ts'
import { migrationOf } from './tiny-store.ts'

// Applies three migrations that take a while and prints which of them this process applied; with `platform` it creates
// the platform's own database as a first start does, with `upgrade` it adds one more step to it.
// Usage: migrate-process.ts FILE [platform|upgrade]

/** The platform's migrations and a small one that may follow them. */
export const withOneMore = [
  ...ofThePlatform,
  migrationOf(ofThePlatform.length + 1, 'more', 'CREATE TABLE more (number INTEGER NOT NULL) STRICT'),
]

const [, , file = '', what] = process.argv
const more = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
  INSERT INTO numbers SELECT i FROM n;`
const migrations = [
  migrationOf(1, 'numbers', `CREATE TABLE numbers (number INTEGER NOT NULL) STRICT; ${more}`),
  migrationOf(2, 'more numbers', more),
  migrationOf(3, 'yet more numbers', more),
]
const apply = async () => {
  if (what === 'platform') return await migrateFile(file, ofThePlatform)
  return await migrate(file, what === 'upgrade' ? withOneMore : migrations)
}
if (import.meta.main) console.log(JSON.stringify(await apply()))
