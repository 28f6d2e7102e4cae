import type { Connection } from '../sqlite/connection.ts'

export type EndedByRestore = {
  readonly appTokens: number
  readonly grants: number
  readonly sessions: number
  readonly embeddedSessions: number
}

/** A table whose rows end, and what is set besides the time of the end. */
export type Ended = { readonly table: string; readonly column: string; readonly alsoSet?: string }

/** The tables of what is issued, and the column that says when a row has ended. The same on both engines. */
export const endedColumns = {
  installSessionCodes: { table: 'install_session_codes', column: 'spent_at' },
  appTokens: { table: 'app_tokens', column: 'revoked_at' },
  grants: {
    table: 'grants',
    column: 'revoked_at',
    alsoSet: ', retry_key = NULL, retry_salt = NULL, retry_fingerprint = NULL, retry_until = NULL',
  },
  sessions: { table: 'sessions', column: 'ended_at' },
  embeddedSessions: { table: 'embedded_sessions', column: 'ended_at' },
} as const satisfies Readonly<Record<string, Ended>>

/** The next start makes new keys, so that nothing that was signed with the old ones is valid. A link could have been used since, and a mail sent. */
export const emptiedTables = ['server_keys', 'devices', 'password_links', 'mails', 'app_invitations'] as const

/**
 * Ends every app token, session and grant, with its grant every code and token of it, and every code and session of a
 * frame. The rows stay, as the record of what was issued. The server's keys, the known browsers, links to set a password
 * and waiting mails are removed. Returns how much of what ended had not expired.
 */
export const endEverythingIssued = (connection: Connection, at: number): EndedByRestore => {
  const end = ({ table, column, alsoSet = '' }: Ended): number => {
    using alive = connection.prepare<{ rows: number }, [number]>(
      `SELECT count(*) AS rows FROM main.${table} WHERE ${column} IS NULL AND expires_at > ?`,
    )
    const rows = alive.get(at)?.rows ?? 0
    connection.run(`UPDATE main.${table} SET ${column} = ?${alsoSet} WHERE ${column} IS NULL`, [at])
    return rows
  }
  end(endedColumns.installSessionCodes)
  for (const table of emptiedTables) connection.run(`DELETE FROM main.${table}`)
  return {
    appTokens: end(endedColumns.appTokens),
    grants: end(endedColumns.grants),
    sessions: end(endedColumns.sessions),
    embeddedSessions: end(endedColumns.embeddedSessions),
  }
}
