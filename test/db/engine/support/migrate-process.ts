import { migrate } from '../../../../db/migrate.ts'
import { migrationOf } from './tiny-store.ts'

// Applies three migrations that take a while and prints which of them this process applied. Usage: migrate-process.ts
// FILE

const [, , file = ''] = process.argv
const more = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
  INSERT INTO numbers SELECT i FROM n;`
const migrations = [
  migrationOf(1, 'numbers', `CREATE TABLE numbers (number INTEGER NOT NULL) STRICT; ${more}`),
  migrationOf(2, 'more numbers', more),
  migrationOf(3, 'yet more numbers', more),
]
console.log(JSON.stringify(await migrate(file, migrations)))
