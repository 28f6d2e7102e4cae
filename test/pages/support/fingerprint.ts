import { Database } from 'bun:sqlite'

/** Tables that may grow when a page is shown or refused. */
const lively = new Set(['audit_events', 'watermarks'])

/** A hash of each table's content, to compare before and after. */
export const fingerprint = (file: string): Readonly<Record<string, string>> => {
  const database = new Database(file, { readonly: true })
  try {
    const tables = database.query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    )
    const hashes: Record<string, string> = {}
    for (const { name } of tables.all()) {
      if (lively.has(name)) continue
      const rows = database.query(`SELECT * FROM "${name}" ORDER BY 1`).values()
      hashes[name] = `${rows.length} rows, ${Bun.hash(Bun.inspect(rows)).toString(16)}`
    }
    return hashes
  } finally {
    database.close()
  }
}

/** How many refusals the audit log has. */
export const countRefusals = (file: string): number => {
  const database = new Database(file, { readonly: true })
  try {
    const count = database.query<{ total: number }, []>(
      "SELECT count(*) AS total FROM audit_events WHERE outcome = 'refused'",
    )
    return count.get()?.total ?? 0
  } finally {
    database.close()
  }
}
