import { migrate, migrateFile } from '../../../../db/migrate.ts'
import { migrations as ofThePlatform } from '../../../../db/migrations/index.ts'
import { migrationOf } from './tiny-store.ts'

// Applies three migrations that take a while and prints which of them this process applied; with `platform` it creates
// the platform's own database as a first start does. Usage: migrate-process.ts FILE [platform]

const [, , file = '', what] = process.argv
const more = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
  INSERT INTO numbers SELECT i FROM n;`
const migrations = [
  migrationOf(1, 'numbers', `CREATE TABLE numbers (number INTEGER NOT NULL) STRICT; ${more}`),
  migrationOf(2, 'more numbers', more),
  migrationOf(3, 'yet more numbers', more),
]
const applied = what === 'platform' ? await migrateFile(file, ofThePlatform) : await migrate(file, migrations)
console.log(JSON.stringify(applied))
