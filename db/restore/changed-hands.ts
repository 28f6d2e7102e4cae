import type { End } from './end.ts'

/** What is told of a row that the copy does not have, or has otherwise. */
const unlessSame = (table: 'apps' | 'users', column: string) =>
  `LEFT JOIN main.${table} AS m ON m.id = p.id WHERE m.id IS NULL OR m.${column} <> p.${column}`

/** An app that was deleted stays so. Its ID is kept by the purge, which removes the row. */
const appDeleted: End = {
  kind: 'app_deleted',
  counts: 'apps',
  of: 'apps',
  needs: { table: 'apps', column: 'deleted_at' },
  told: 'SELECT id, deleted_at, NULL FROM present.apps WHERE deleted_at IS NOT NULL',
  done: [
    `UPDATE main.apps AS m SET status = 'suspended', deleted_at = c.at, updated_at = max(m.updated_at, c.at)
    FROM main.carried_ends AS c
    WHERE c.kind = 'app_deleted' AND c.target = m.id AND m.deleted_at IS NULL AND c.at >= m.updated_at`,
  ],
}

/** The previous owner does not get an app back. Where the new one is unknown, nobody may use it until an operator decides. */
const appOwner: End = {
  kind: 'app_owner',
  counts: 'owners',
  of: 'apps',
  told: `SELECT p.id, p.updated_at, p.owner_id FROM present.apps AS p ${unlessSame('apps', 'owner_id')}`,
  done: [
    `UPDATE main.apps AS m SET owner_id = c.value, updated_at = c.at FROM main.carried_ends AS c
    WHERE c.kind = 'app_owner' AND c.target = m.id AND m.owner_id <> c.value AND c.at >= m.updated_at
      AND c.value IN (SELECT id FROM main.users)`,
    `UPDATE main.apps AS m SET status = 'suspended', updated_at = c.at FROM main.carried_ends AS c
    WHERE c.kind = 'app_owner' AND c.target = m.id AND m.owner_id <> c.value AND c.at >= m.updated_at
      AND m.status = 'active'`,
  ],
}

/** What an address becomes that is taken by somebody else: nobody can sign in with it until an operator sets another. */
const takenAddress = "m.id || '@changed.invalid'"

/** A changed address is not valid again. Everybody's is given up first, so that two can have swapped theirs. */
const userEmail: End = {
  kind: 'user_email',
  counts: 'emails',
  of: 'users',
  told: `SELECT p.id, p.updated_at, p.email FROM present.users AS p ${unlessSame('users', 'email')}`,
  first: [
    `UPDATE main.users AS m SET email = ${takenAddress} FROM main.carried_ends AS c
    WHERE c.kind = 'user_email' AND c.target = m.id AND m.email <> c.value AND c.at >= m.updated_at`,
  ],
  done: [
    `UPDATE OR IGNORE main.users AS m SET email = c.value, updated_at = c.at FROM main.carried_ends AS c
    WHERE c.kind = 'user_email' AND c.target = m.id AND m.email = ${takenAddress}`,
  ],
}

/** Apps that were deleted or have another owner, and users with another address. */
export const changedHands: readonly End[] = [appDeleted, appOwner, userEmail]

/** The latest rollback of a version's (`m`) app, where the version that it went back to can be live again. */
const lastRollback = `
  SELECT r.id FROM main.rollbacks AS r
  WHERE r.app_id = m.app_id AND r.environment = 'production'
  ORDER BY r.id DESC LIMIT 1`

/**
 * A version that was taken out of use by a rollback in production. The row of the ledger goes over, and what it says holds:
 * that version is live no longer, and the one that the app went back to last is. Where the copy does not have that one,
 * or has not had it live, nothing can take the place, and the version stays.
 */
export const rolledBack: End = {
  kind: 'rolled_back',
  counts: 'versions',
  of: 'rollbacks',
  // Not of a version that has gone live again since.
  told: `SELECT r.id, r.created_at, json_object('from', r.from_version_id, 'to', r.to_version_id, 'reason', r.reason)
    FROM present.rollbacks AS r JOIN present.versions AS p ON p.id = r.from_version_id
    WHERE r.environment = 'production' AND p.status <> 'active'`,
  first: [
    `INSERT OR IGNORE INTO main.rollbacks (id, app_id, environment, from_version_id, to_version_id, reason, created_at)
    SELECT c.target, f.app_id, 'production', f.id, t.id, c.value ->> 'reason', c.at
    FROM main.carried_ends AS c JOIN main.versions AS f ON f.id = c.value ->> 'from'
      JOIN main.versions AS t ON t.id = c.value ->> 'to' AND t.app_id = f.app_id
    WHERE c.kind = 'rolled_back'`,
    `UPDATE main.versions AS m SET status = 'superseded', updated_at = r.created_at FROM main.rollbacks AS r
    WHERE r.from_version_id = m.id AND r.environment = 'production' AND r.created_at >= m.updated_at
      AND m.status = 'active'
      AND EXISTS (SELECT 1 FROM main.rollbacks AS l JOIN main.versions AS t ON t.id = l.to_version_id
        WHERE l.id = (${lastRollback}) AND t.status = 'superseded')`,
  ],
  done: [
    `UPDATE main.versions AS m SET status = 'active', activated_at = l.created_at, updated_at = l.created_at
    FROM main.rollbacks AS l
    WHERE l.id = (${lastRollback}) AND l.to_version_id = m.id AND m.status = 'superseded'
      AND NOT EXISTS (SELECT 1 FROM main.versions AS v WHERE v.app_id = m.app_id AND v.status = 'active')`,
  ],
}
