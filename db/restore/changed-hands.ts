import { proofActions } from '../queries/audit.ts'
import { type End, rowEnd, unlessSame, updateOf } from './end.ts'

/** A deleted app stays deleted. Its ID is kept by the purge, which removes the row. */
const appDeleted = rowEnd({
  kind: 'app_deleted',
  counts: 'apps',
  of: 'apps',
  told: 'SELECT id, deleted_at, NULL FROM present.apps WHERE deleted_at IS NOT NULL',
  set: "status = 'suspended', deleted_at = c.at, updated_at = max(m.updated_at, c.at)",
  where: 'm.deleted_at IS NULL AND c.at >= m.updated_at',
})

const owner = { kind: 'app_owner', of: 'apps' } as const

/** The previous owner does not get an app back. If the new one is unknown, nobody may use it until an operator decides. */
const appOwner: End = {
  ...owner,
  counts: 'owners',
  told: `SELECT p.id, p.updated_at, p.owner_id FROM present.apps AS p ${unlessSame('apps', 'owner_id')}`,
  done: [
    `${updateOf(owner, 'owner_id = c.value, updated_at = c.at')} AND m.owner_id <> c.value AND c.at >= m.updated_at
      AND c.value IN (SELECT id FROM main.users)`,
    `${updateOf(owner, "status = 'suspended', updated_at = c.at")} AND m.owner_id <> c.value AND c.at >= m.updated_at
      AND m.status = 'active'`,
  ],
}

/** Members who left or were removed, and those with less rights than before. Nobody gets a higher role by a restore. */
export const memberEnds: readonly End[] = [
  rowEnd({
    kind: 'member_role',
    counts: 'members',
    of: 'app_members',
    told: `SELECT p.id, p.updated_at, p.role FROM present.app_members AS p ${unlessSame('app_members', 'role')}`,
    set: 'role = c.value, updated_at = c.at',
    where: "m.role <> c.value AND (c.value = 'developer' OR m.role = 'owner') AND c.at >= m.updated_at",
  }),
  rowEnd({
    kind: 'member',
    counts: 'members',
    of: 'app_members',
    told: 'SELECT id, ended_at, NULL FROM present.app_members WHERE ended_at IS NOT NULL',
    set: 'ended_at = c.at, updated_at = c.at',
    where: 'm.ended_at IS NULL',
  }),
]

/** The address of a user whose new one belongs to another user. Nobody can sign in with it until an operator sets another. */
const takenAddress = "m.id || '@changed.invalid'"

const email = { kind: 'user_email', of: 'users' } as const

/** A changed address is not valid again. All of them are given up first, because two users may have swapped theirs. */
const userEmail: End = {
  ...email,
  counts: 'emails',
  told: `SELECT p.id, p.updated_at, p.email FROM present.users AS p ${unlessSame('users', 'email')}`,
  first: [`${updateOf(email, `email = ${takenAddress}`)} AND m.email <> c.value AND c.at >= m.updated_at`],
  done: [
    `UPDATE OR IGNORE main.users AS m SET email = c.value, updated_at = c.at FROM main.carried_ends AS c
    WHERE c.kind = 'user_email' AND c.target = m.id AND m.email = ${takenAddress}`,
  ],
}

const externalId = { kind: 'user_external_id', of: 'users' } as const

/** Whoever has the builder's ID of a person comes in as them. As with addresses, all that changed are given up first. */
const userExternalId: End = {
  ...externalId,
  counts: 'links',
  told: `SELECT p.id, p.updated_at, p.external_id FROM present.users AS p
    LEFT JOIN main.users AS m ON m.id = p.id WHERE m.id IS NULL OR m.external_id IS NOT p.external_id`,
  done: [
    `${updateOf(externalId, 'external_id = NULL, updated_at = c.at')} AND m.external_id IS NOT c.value
      AND m.external_id IS NOT NULL AND c.at >= m.updated_at`,
    `UPDATE OR IGNORE main.users AS m SET external_id = c.value, updated_at = c.at FROM main.carried_ends AS c
    WHERE c.kind = 'user_external_id' AND c.target = m.id AND m.external_id IS NULL AND c.value IS NOT NULL
      AND c.at >= m.updated_at`,
  ],
}

/** Apps that were deleted or have another owner, and users with another address or another ID of the builder. */
export const changedHands: readonly End[] = [appDeleted, appOwner, userEmail, userExternalId]

/**
 * Accounts at an identity provider that were taken from a user. The event of the link names the one that has gone: both have the same
 * time. Only events that this backup does not know, or whose account it still has.
 */
export const identityRemoved: End = {
  kind: 'identity',
  counts: 'links',
  of: 'audit_events',
  told: `SELECT e.id, ?1, NULL FROM present.audit_events AS e
    WHERE e.action = '${proofActions.userLinked}' AND e.outcome = 'done'
      AND NOT EXISTS (SELECT 1 FROM present.identities AS i WHERE i.user_id = e.target AND i.created_at = e.at)
      AND (EXISTS (SELECT 1 FROM main.identities AS m WHERE m.user_id = e.target AND m.created_at = e.at)
        OR NOT EXISTS (SELECT 1 FROM main.audit_events AS a WHERE a.id = e.id))`,
  done: [
    `DELETE FROM main.identities WHERE (user_id, created_at) IN (
      SELECT e.target, e.at FROM main.carried_ends AS c JOIN main.audit_events AS e ON e.id = c.target AND c.kind = 'identity')
      AND (issuer, subject, user_id) NOT IN (SELECT issuer, subject, user_id FROM present.identities)`,
  ],
}

/** The latest rollback in production of the app of a version (`m`). */
const lastRollback = `
  SELECT r.id FROM main.rollbacks AS r
  WHERE r.app_id = m.app_id AND r.environment = 'production'
  ORDER BY r.id DESC LIMIT 1`

/** Whether both versions of a rollback (`r`) have been live in the copy. */
const wereLive = `(SELECT count(DISTINCT l.version_id) FROM main.live_changes AS l
  WHERE l.version_id IN (r.from_version_id, r.to_version_id)) = 2`

/** The last change of the live version of an app. */
const lastChange = (app: string) => `(SELECT max(position) FROM main.live_changes WHERE app_id = ${app})`

/**
 * A version that was taken out of use by a rollback in production. The row of the ledger is copied, and what it says holds:
 * that version is not live any more, and the one that the app went back to last is. If the copy does not have that one, or
 * it was never live there, nothing can replace the version, so it stays. Rollbacks of versions that have gone live again since
 * end nothing, but they are part of the history that decides what the next rollback goes back to.
 */
export const rolledBack: End = {
  kind: 'rolled_back',
  counts: 'versions',
  of: 'rollbacks',
  told: `SELECT r.id, r.created_at, json_object('from', r.from_version_id, 'to', r.to_version_id, 'reason', r.reason,
      'ends', p.status <> 'active')
    FROM present.rollbacks AS r JOIN present.versions AS p ON p.id = r.from_version_id
    WHERE r.environment = 'production'`,
  first: [
    `INSERT OR IGNORE INTO main.rollbacks (id, app_id, environment, from_version_id, to_version_id, reason, created_at)
    SELECT c.target, f.app_id, 'production', f.id, t.id, c.value ->> 'reason', c.at
    FROM main.carried_ends AS c JOIN main.versions AS f ON f.id = c.value ->> 'from'
      JOIN main.versions AS t ON t.id = c.value ->> 'to' AND t.app_id = f.app_id
    WHERE c.kind = 'rolled_back'`,
    `INSERT INTO main.live_changes (app_id, position, version_id, rollback_id, live_at)
    SELECT r.app_id, ${lastChange('r.app_id')} + row_number() OVER (PARTITION BY r.app_id ORDER BY r.id),
      r.to_version_id, r.id, r.created_at
    FROM main.carried_ends AS c JOIN main.rollbacks AS r ON r.id = c.target
    WHERE c.kind = 'rolled_back' AND ${wereLive}
      AND NOT EXISTS (SELECT 1 FROM main.live_changes AS l WHERE l.rollback_id = r.id)
      AND r.created_at >= (SELECT max(l.live_at) FROM main.live_changes AS l WHERE l.app_id = r.app_id)`,
    `UPDATE main.versions AS m SET status = 'superseded', updated_at = r.created_at
    FROM main.carried_ends AS c JOIN main.rollbacks AS r ON r.id = c.target
    WHERE c.kind = 'rolled_back' AND c.value ->> 'ends' AND r.from_version_id = m.id AND r.created_at >= m.updated_at
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
  last: [
    `INSERT INTO main.live_changes (app_id, position, version_id, rollback_id, live_at)
    SELECT v.app_id, l.position + 1, v.id, NULL, ?1
    FROM main.versions AS v JOIN main.live_changes AS l ON l.app_id = v.app_id
    WHERE v.status = 'active' AND l.version_id <> v.id AND l.position = ${lastChange('v.app_id')}`,
  ],
}
