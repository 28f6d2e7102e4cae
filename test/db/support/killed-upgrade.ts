import { migrateFile } from '../../../db/migrate-file.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { Connection } from '../../../db/sqlite/connection.ts'

// Migrates, statement by statement, and is killed just before one of them. Usage: killed-upgrade.ts FILE STATEMENT
// Ends by itself when there are fewer.

const [, , file = '', before = ''] = process.argv
const steps = new Set(migrations.map(({ sql }) => sql))
const run = Connection.prototype.run
let statements = 0

/** A migration is one call with many statements; a kill may come between any two of them. */
const statementsOf = (sql: string): readonly string[] =>
  sql
    .replaceAll(/^--.*$/gm, '')
    .split(';')
    .filter((statement) => statement.trim() !== '')

Connection.prototype.run = function (this: Connection, sql, ...bindings) {
  let changes = { changes: 0, lastInsertRowid: 0 as number | bigint }
  for (const statement of steps.has(sql) ? statementsOf(sql) : [sql]) {
    statements += 1
    if (statements === Number(before)) process.kill(process.pid, 'SIGKILL')
    changes = run.call(this, statement, ...bindings)
  }
  return changes
}
await migrateFile(file, migrations)
console.log(statements)
