import type { Connection } from '../sqlite/connection.ts'

export type EndedByRestore = {
  readonly appTokens: number
  readonly grants: number
  readonly sessions: number
  readonly embeddedSessions: number
}

/**
 * Ends every app token, session and grant, with its grant every code and token of it, and every code and session of a
 * frame. The rows stay, as the record of what was issued. The server's keys and the known browsers are removed. Returns how
 * much of what ended had not expired.
 */
export const endEverythingIssued = (connection: Connection, at: number): EndedByRestore => {
  const end = (table: string, ended: string, alsoSet = ''): number => {
    using alive = connection.prepare<{ rows: number }, [number]>(
      `SELECT count(*) AS rows FROM main.${table} WHERE ${ended} IS NULL AND expires_at > ?`,
    )
    const rows = alive.get(at)?.rows ?? 0
    connection.run(`UPDATE main.${table} SET ${ended} = ?${alsoSet} WHERE ${ended} IS NULL`, [at])
    return rows
  }
  const noRetry = ', retry_key = NULL, retry_salt = NULL, retry_fingerprint = NULL, retry_until = NULL'
  end('install_session_codes', 'spent_at')
  // The next start makes new keys, so that nothing that was signed with these is valid.
  connection.run('DELETE FROM main.server_keys')
  connection.run('DELETE FROM main.devices')
  return {
    appTokens: end('app_tokens', 'revoked_at'),
    grants: end('grants', 'revoked_at', noRetry),
    sessions: end('sessions', 'ended_at'),
    embeddedSessions: end('embedded_sessions', 'ended_at'),
  }
}
