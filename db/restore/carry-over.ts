import type { Connection } from '../sqlite/connection.ts'

/** How much of each was over, or taken away, in the predecessor and still in force in the backup. */
export type CarriedOver = {
  readonly credentials: number
  readonly apps: number
  readonly users: number
  readonly passwords: number
  readonly installs: number
  readonly redirectUris: number
  readonly webhooks: number
}

/**
 * Tells the copy (`main`) what has ended in the predecessor (`present`) since the backup was made: a backup must not revive what
 * was revoked. Only ends things; whatever began since then is lost, as a restore means.
 */
export const carryOver = (connection: Connection, now: number): CarriedOver => {
  const change = (sql: string): number => connection.run(sql, sql.includes('?') ? [now] : []).changes
  return {
    credentials: change(endedCredentials),
    apps: change(suspendedApps),
    users: change(disabledUsers),
    passwords: change(changedPasswords),
    installs: change(endedInstalls),
    redirectUris: change(removedRedirectUris),
    webhooks: knowsWebhooks(connection) ? endedWebhooks.map(change).reduce((total, rows) => total + rows, 0) : 0,
  }
}

const endedCredentials = `
  UPDATE main.credentials AS c
  SET revoked_at = coalesce(c.revoked_at, p.revoked_at),
      expires_at = CASE WHEN c.expires_at <= p.expires_at THEN c.expires_at ELSE coalesce(p.expires_at, c.expires_at) END
  FROM present.credentials AS p
  WHERE p.id = c.id
    AND ((c.revoked_at IS NULL AND p.revoked_at IS NOT NULL)
      OR (p.expires_at IS NOT NULL AND (c.expires_at IS NULL OR c.expires_at > p.expires_at)))`

const suspendedApps = `
  UPDATE main.apps SET status = 'suspended', updated_at = ?
  WHERE status = 'active' AND id IN (SELECT id FROM present.apps WHERE status = 'suspended')`

const disabledUsers = `
  UPDATE main.users SET status = 'disabled', updated_at = ?
  WHERE status = 'active' AND id IN (SELECT id FROM present.users WHERE status = 'disabled')`

const changedPasswords = `
  UPDATE main.users AS u SET password_hash = p.password_hash, updated_at = ?
  FROM present.users AS p
  WHERE p.id = u.id AND p.password_hash <> u.password_hash`

const endedInstalls = `
  UPDATE main.installs AS i SET approval = p.approval, state = 'inactive', updated_at = ?
  FROM present.installs AS p
  WHERE p.id = i.id AND p.state = 'inactive' AND p.approval <> 'pending' AND (i.state = 'active' OR i.approval = 'pending')`

const removedRedirectUris = `
  DELETE FROM main.redirect_uris
  WHERE client_id IN (SELECT id FROM present.clients)
    AND NOT EXISTS (
      SELECT 1 FROM present.redirect_uris AS p WHERE p.uri = redirect_uris.uri AND p.client_id = redirect_uris.client_id)`

/** A predecessor of an earlier release has no webhooks. */
const knowsWebhooks = (connection: Connection): boolean =>
  connection.value("SELECT count(*) FROM present.sqlite_schema WHERE name = 'webhook_endpoints'") === 1

/** Endpoints that are gone or disabled, and secrets whose grace was set or that went with their endpoint. */
const endedWebhooks = [
  `DELETE FROM main.webhook_secrets
  WHERE endpoint_id IN (SELECT e.id FROM main.webhook_endpoints AS e JOIN present.apps AS a ON a.id = e.app_id)
    AND id NOT IN (SELECT id FROM present.webhook_secrets)`,
  `DELETE FROM main.webhook_endpoints
  WHERE app_id IN (SELECT id FROM present.apps) AND id NOT IN (SELECT id FROM present.webhook_endpoints)`,
  `UPDATE main.webhook_secrets AS s SET expires_at = p.expires_at
  FROM present.webhook_secrets AS p
  WHERE p.id = s.id AND p.expires_at IS NOT NULL AND (s.expires_at IS NULL OR s.expires_at > p.expires_at)`,
  `UPDATE main.webhook_endpoints AS e SET status = p.status, reason = p.reason, updated_at = ?
  FROM present.webhook_endpoints AS p
  WHERE p.id = e.id AND p.status = 'disabled' AND e.status = 'enabled'`,
]
