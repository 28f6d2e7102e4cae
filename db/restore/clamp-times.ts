import type { Connection } from '../sqlite/connection.ts'

type TimeColumn = { readonly table: string; readonly column: string }

/** Every column that holds a time, recognised by its name. A test compares this rule with the schema. */
export const timeColumns = (connection: Connection) =>
  connection.rows<TimeColumn>(
    `SELECT s.name AS "table", c.name AS "column" FROM main.sqlite_schema AS s, pragma_table_info(s.name, 'main') AS c
    WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%' AND c.type = 'INTEGER'
      AND (c.name = 'at' OR c.name LIKE '%\\_at' ESCAPE '\\' OR c.name LIKE '%\\_until' ESCAPE '\\'
        OR c.name LIKE '%\\_since' ESCAPE '\\')`,
  )

/** Sets every stored time after `at` back to `at`, and returns how many there were. */
export const clampTimes = (connection: Connection, at: number): number =>
  timeColumns(connection)
    .map(({ table, column }) => `UPDATE main.${table} SET ${column} = ?1 WHERE ${column} > ?1`)
    .reduce((sum, update) => sum + connection.run(update, [at]).changes, 0)
