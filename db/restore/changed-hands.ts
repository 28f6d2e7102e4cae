import type { End } from './ends.ts'

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
