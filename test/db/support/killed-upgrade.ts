import type { SQLQueryBindings } from 'bun:sqlite'
import { migrateFile, rowsGoHere } from '../../../db/migrate.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { Connection } from '../../../db/sqlite/connection.ts'

// Migrates, statement by statement, and is killed just before one of them. Usage: killed-upgrade.ts FILE STATEMENT
// Ends normally if there are fewer statements.

const [, , file = '', before = ''] = process.argv
const steps = new Set(migrations.flatMap(({ sql }) => sql.split(rowsGoHere)))
const { run, prepare } = Connection.prototype
let statements = 0
const count = (): void => {
  statements += 1
  if (statements === Number(before)) process.kill(process.pid, 'SIGKILL')
}

/** A migration is one call with many statements; a kill may come between any two of them. */
const statementsOf = (sql: string): readonly string[] =>
  sql
    .replaceAll(/^--.*$/gm, '')
    .split(';')
    .filter((statement) => statement.trim() !== '')

Connection.prototype.run = function (this: Connection, sql, ...bindings) {
  let changes = { changes: 0, lastInsertRowid: 0 as number | bigint }
  for (const statement of steps.has(sql) ? statementsOf(sql) : [sql]) {
    count()
    changes = run.call(this, statement, ...bindings)
  }
  return changes
}
/** A migration that copies rows prepares a statement for each table that it reads and each that it fills. */
const names: ReadonlySet<string> = new Set(['SELECT', 'INSERT'])
Connection.prototype.prepare = function <Row, Bindings extends SQLQueryBindings | SQLQueryBindings[]>(
  this: Connection,
  sql: string,
  bindings?: Bindings,
) {
  if (this.inTransaction && names.has(sql.trimStart().slice(0, 6))) count()
  return Reflect.apply(prepare<Row, Bindings>, this, [sql, bindings])
}
await migrateFile(file, migrations)
console.log(statements)
