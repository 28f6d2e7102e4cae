import { Connection } from './connection.ts'

/** The SQLite that is built into this program, such as `3.54.1`. */
export const sqliteVersion = (): string => {
  const connection = new Connection(':memory:')
  try {
    return String(connection.value('SELECT sqlite_version()'))
  } finally {
    connection.close()
  }
}
