import { type ProofAction, proofActions } from '../queries/audit.ts'
import { erasedUserText, erasureTexts } from '../queries/lists.ts'

/*
 * What must not be revived by a restore, except what was issued, which ends with every restore. Each entry says what the
 * predecessor tells of an end, and what is then done in the copy. `carryOver` in `db/restore.ts` runs them. The most are of three sorts:
 *
 * - What ends once has a column with the time (`endsOnce`).
 * - A state may change again, and `updated_at` is the time (`endsState`). What the copy has got later stays.
 * - What is removed leaves no row. The audit event of its creation, which is never purged, names it (`created`, `removed`).
 *
 * In the SQL, `main` is the copy with its rows `m`; `predecessor` has rows `p`; `c` is a row of `carried_ends`: the ID of what
 * ended, when it did, and what holds instead. `?1` is the machine's time at the restore.
 */

/** How much of each had ended or been removed in the predecessor and was still in force in the backup. */
export const nothingCarriedOver = {
  credentials: 0,
  serviceKeys: 0,
  apps: 0,
  owners: 0,
  members: 0,
  users: 0,
  emails: 0,
  links: 0,
  passwords: 0,
  factors: 0,
  operators: 0,
  installs: 0,
  resources: 0,
  scopes: 0,
  versions: 0,
  redirectUris: 0,
  webhooks: 0,
}
export type CarriedOver = Readonly<typeof nothingCarriedOver>

/** Something that a predecessor tells. */
type Told = {
  /** As in `carried_ends`, for ever. */
  readonly kind: string
  /** The table whose IDs are the targets. */
  readonly of: string
  /** Selects target, time and value from the predecessor. */
  readonly told: string
}

type End = Told & {
  readonly counts: keyof CarriedOver
  /** Statements that run before `done` and are not counted. */
  readonly first?: readonly string[]
  /** Ends it in the copy, by what `carried_ends` says. */
  readonly done: readonly string[]
  /** Statements that run after `done` and are not counted. */
  readonly last?: readonly string[]
}

type RowEnd = Omit<End, 'done'> & { readonly set: string; readonly where: string }

/** An update of the rows of the copy that have ended. */
const update = ({ kind, of }: Pick<End, 'kind' | 'of'>, set: string, where: string): string =>
  `UPDATE main.${of} AS m SET ${set} FROM main.carried_ends AS c WHERE c.kind = '${kind}' AND c.target = m.id AND ${where}`

/** The same for a state. */
const updateState = (end: Pick<End, 'kind' | 'of'>, set: string, where: string): string =>
  update(end, `${set}, updated_at = c.at`, `${where} AND c.at >= m.updated_at`)

/** An end that is one update of a row. */
const endsRow = ({ set, where, ...end }: RowEnd): End => ({ ...end, done: [update(end, set, where)] })

/** The same, but what the copy has got later stays. */
const endsState = ({ set, where, ...end }: RowEnd): End => ({ ...end, done: [updateState(end, set, where)] })

type Once = Omit<End, 'told' | 'done'> & { readonly column: string; readonly set?: string; readonly where?: string }

/** An end with a column for its time. `set` and `where` add to what always holds. */
const endsOnce = ({ column, set, where, ...end }: Once): End =>
  endsRow({
    ...end,
    told: `SELECT id, ${column}, NULL FROM predecessor.${end.of} WHERE ${column} IS NOT NULL`,
    set: [`${column} = c.at`, ...(set === undefined ? [] : [set])].join(', '),
    where: [`m.${column} IS NULL`, ...(where === undefined ? [] : [where])].join(' AND '),
  })

/** Rows of the predecessor that the copy lacks, or has with another value in this column. */
const changed = (table: string, column: string): string =>
  `SELECT p.id, p.updated_at, p.${column} FROM predecessor.${table} AS p
    LEFT JOIN main.${table} AS m ON m.id = p.id WHERE (m.id IS NULL OR m.${column} IS NOT p.${column})`

/** Events of the predecessor that record the creation of something: of an app, found through the audit index, or of the builder. */
const created = (...actions: readonly ProofAction[]) => {
  const isOne = `e.action IN (${actions.map((action) => `'${action}'`).join(', ')})`
  return `(SELECT e.* FROM predecessor.apps AS a JOIN predecessor.audit_events AS e ON e.app_id = a.id AND ${isOne}
    UNION ALL SELECT e.* FROM predecessor.audit_events AS e WHERE e.app_id IS NULL AND ${isOne}) AS e`
}

/** Ends of a kind, each with the event that records the creation of what was removed. */
const removed = (kind: string) => `
  main.carried_ends AS c JOIN main.audit_events AS e ON e.id = c.target AND c.kind = '${kind}'`

/** Secrets that are revoked at once or expire after a rotation. */
const endsSecret = (kind: string, of: string, counts: keyof CarriedOver): End =>
  endsRow({
    kind,
    counts,
    of,
    told: `SELECT id, coalesce(revoked_at, expires_at), iif(revoked_at IS NULL, 'expires', 'revoked')
      FROM predecessor.${of} WHERE revoked_at IS NOT NULL OR expires_at IS NOT NULL`,
    set: `revoked_at = iif(c.value = 'revoked', c.at, NULL), expires_at = iif(c.value = 'expires', c.at, m.expires_at)`,
    where: `m.revoked_at IS NULL AND (c.value = 'revoked' OR m.expires_at IS NULL OR m.expires_at > c.at)`,
  })

/** The names that two lists of scopes have in common, in order. */
const common = (one: string, other: string) => `(
  SELECT coalesce(group_concat(value, ' '), '') FROM (
    SELECT value FROM json_each('["' || replace(${one}, ' ', '","') || '"]')
    WHERE instr(' ' || ${other} || ' ', ' ' || value || ' ') > 0 ORDER BY key))`

/**
 * Scopes of an app or an install that were withdrawn. Those that were added since are not given. `column` has them, and `others` some
 * of them.
 */
const endsScopes = (kind: string, of: 'apps' | 'installs', column = 'scopes', others: readonly string[] = []): End =>
  endsState({
    kind,
    counts: 'scopes',
    of,
    told: changed(of, column),
    set: [column, ...others].map((each) => `${each} = ${common(`m.${each}`, 'c.value')}`).join(', '),
    where: `m.${column} <> ${common(`m.${column}`, 'c.value')}`,
  })

/** The names of a list without those of retired scopes. */
const withoutRetired = (list: string) => `(
  SELECT coalesce(group_concat(value, ' '), '') FROM (
    SELECT value FROM json_each('["' || replace(${list}, ' ', '","') || '"]')
    WHERE value NOT IN (SELECT id FROM main.scopes WHERE retired_at IS NOT NULL) ORDER BY key))`

/** Retired scopes of the operator, also those that the backup does not know: their names are never used again. */
const retiredScopes: End = {
  kind: 'scope_retired',
  counts: 'scopes',
  of: 'scopes',
  told: `SELECT id, retired_at, json_object('usable_by', usable_by, 'words', words, 'is_restricted', is_restricted,
      'created_at', created_at) FROM predecessor.scopes WHERE retired_at IS NOT NULL`,
  first: [
    `INSERT OR IGNORE INTO main.scopes (id, usable_by, words, is_restricted, created_at, retired_at)
    SELECT target, value ->> 'usable_by', value ->> 'words', value ->> 'is_restricted', value ->> 'created_at', at
    FROM main.carried_ends WHERE kind = 'scope_retired'`,
  ],
  done: [
    `UPDATE main.scopes AS m SET retired_at = c.at FROM main.carried_ends AS c
    WHERE c.kind = 'scope_retired' AND c.target = m.id AND m.retired_at IS NULL`,
  ],
  last: [
    ...['scopes', 'token_scopes', 'given_scopes'].map((column) => ['apps', column] as const),
    ...['installs', 'versions'].map((table) => [table, 'scopes'] as const),
  ].map(
    ([table, column]) => `UPDATE main.${table} AS m SET ${column} = ${withoutRetired(`m.${column}`)}
    WHERE m.${column} <> ${withoutRetired(`m.${column}`)}`,
  ),
}

const owner = { kind: 'app_owner', of: 'apps' } as const
const email = { kind: 'user_email', of: 'users' } as const
const externalId = { kind: 'user_external_id', of: 'users' } as const

/** The address of a user whose new one belongs to another user. Nobody can sign in with it until an operator sets another. */
const takenAddress = "m.id || '@changed.invalid'"

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
const rolledBack: End = {
  kind: 'rolled_back',
  counts: 'versions',
  of: 'rollbacks',
  told: `SELECT r.id, r.created_at, json_object('from', r.from_version_id, 'to', r.to_version_id, 'reason', r.reason,
      'ends', p.status <> 'active')
    FROM predecessor.rollbacks AS r JOIN predecessor.versions AS p ON p.id = r.from_version_id
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
    `UPDATE main.apps AS m SET description = v.description FROM main.versions AS v
    WHERE v.app_id = m.id AND v.status = 'active' AND m.description IS NOT v.description`,
  ],
}

/** In the order in which they are carried over. */
export const ends: readonly End[] = [
  // The purge removes the row of a deleted app, and adds its end to `carried_ends`.
  endsOnce({
    kind: 'app_deleted',
    counts: 'apps',
    of: 'apps',
    column: 'deleted_at',
    set: "status = 'suspended', updated_at = max(m.updated_at, c.at)",
    where: 'c.at >= m.updated_at',
  }),
  // The previous owner does not get an app back. If the new one is unknown, nobody may use it until an operator decides.
  {
    ...owner,
    counts: 'owners',
    told: changed('apps', 'owner_id'),
    done: [
      updateState(owner, 'owner_id = c.value', 'm.owner_id <> c.value AND c.value IN (SELECT id FROM main.users)'),
      updateState(owner, "status = 'suspended'", "m.owner_id <> c.value AND m.status = 'active'"),
    ],
  },
  // A changed address is not valid again. All of them are given up first, because two users may have swapped theirs.
  {
    ...email,
    counts: 'emails',
    told: changed('users', 'email'),
    first: [update(email, `email = ${takenAddress}`, 'm.email <> c.value AND c.at >= m.updated_at')],
    done: [
      `UPDATE OR IGNORE main.users AS m SET email = c.value, updated_at = c.at FROM main.carried_ends AS c
      WHERE c.kind = 'user_email' AND c.target = m.id AND m.email = ${takenAddress}`,
    ],
  },
  // Whoever has the builder's ID of a person comes in as them. As with addresses, all that changed are given up first.
  {
    ...externalId,
    counts: 'links',
    told: changed('users', 'external_id'),
    done: [
      updateState(externalId, 'external_id = NULL', 'm.external_id IS NOT c.value AND m.external_id IS NOT NULL'),
      `UPDATE OR IGNORE main.users AS m SET external_id = c.value, updated_at = c.at FROM main.carried_ends AS c
      WHERE c.kind = 'user_external_id' AND c.target = m.id AND m.external_id IS NULL AND c.value IS NOT NULL
        AND c.at >= m.updated_at`,
    ],
  },
  // Accounts at an identity provider that were taken from a user. The event of the link names the one that has gone: both have the
  // same time. Only events that this backup does not know, or whose account it still has.
  {
    kind: 'identity',
    counts: 'links',
    of: 'audit_events',
    told: `SELECT e.id, ?1, NULL FROM predecessor.audit_events AS e
      WHERE e.action = '${proofActions.userLinked}' AND e.outcome = 'done'
        AND NOT EXISTS (SELECT 1 FROM predecessor.identities AS i
          WHERE i.user_id = e.target AND i.created_at = e.at AND i.ended_at IS NULL)
        AND (EXISTS (SELECT 1 FROM main.identities AS m WHERE m.user_id = e.target AND m.created_at = e.at)
          OR NOT EXISTS (SELECT 1 FROM main.audit_events AS a WHERE a.id = e.id))`,
    done: [
      `UPDATE main.identities AS m SET ended_at = c.at, address_holder_id = NULL FROM ${removed('identity')}
        WHERE m.user_id = e.target AND m.created_at = e.at AND m.ended_at IS NULL AND (m.issuer, m.subject, m.user_id) NOT IN
          (SELECT issuer, subject, user_id FROM predecessor.identities WHERE ended_at IS NULL)`,
    ],
    // Those who are not in this backup at all are remembered too, or their address would link them again.
    last: [
      `INSERT OR IGNORE INTO main.identities (issuer, subject, user_id, created_at, ended_at)
        SELECT issuer, subject, user_id, created_at, ended_at FROM predecessor.identities
        WHERE ended_at IS NOT NULL AND user_id IN (SELECT id FROM main.users)`,
    ],
  },
  endsSecret('credential', 'credentials', 'credentials'),
  endsSecret('service_key', 'service_keys', 'serviceKeys'),
  endsState({
    kind: 'app_suspended',
    counts: 'apps',
    of: 'apps',
    told: "SELECT id, updated_at, NULL FROM predecessor.apps WHERE status = 'suspended'",
    set: "status = 'suspended'",
    where: "m.status = 'active'",
  }),
  endsState({
    kind: 'user_disabled',
    counts: 'users',
    of: 'users',
    told: "SELECT id, updated_at, NULL FROM predecessor.users WHERE status = 'disabled'",
    set: "status = 'disabled'",
    where: "m.status = 'active'",
  }),
  // Everything personal goes again.
  {
    ...endsOnce({
      kind: 'user_erased',
      counts: 'users',
      of: 'users',
      column: 'erased_at',
      set: `${erasedUserText()}, updated_at = c.at`,
    }),
    first: erasureTexts("(SELECT target FROM main.carried_ends WHERE kind = 'user_erased')"),
  },
  endsOnce({
    kind: 'resource_deleted',
    counts: 'resources',
    of: 'resources',
    column: 'deleted_at',
    set: "name = '', slug = m.id, status = 'archived', external_id = NULL, updated_at = c.at",
    where: 'c.at >= m.updated_at',
  }),
  endsState({
    kind: 'user_password',
    counts: 'passwords',
    of: 'users',
    told: changed('users', 'password_hash'),
    set: 'password_hash = c.value',
    where: 'm.password_hash <> c.value',
  }),
  endsState({
    kind: 'operator',
    counts: 'operators',
    of: 'users',
    told: `${changed('users', 'is_operator')} AND p.is_operator = 0`,
    set: 'is_operator = 0',
    where: 'm.is_operator = 1',
  }),
  endsRow({
    kind: 'install',
    counts: 'installs',
    of: 'installs',
    told: `SELECT id, updated_at, approval FROM predecessor.installs WHERE state = 'inactive' AND approval <> 'pending'`,
    set: "approval = c.value, state = 'inactive', updated_at = c.at",
    where: "(m.state = 'active' OR m.approval = 'pending')",
  }),
  endsRow({
    kind: 'version_rejected',
    counts: 'versions',
    of: 'versions',
    told: `SELECT id, reviewed_at, rejection FROM predecessor.versions WHERE status = 'rejected'`,
    set: `status = 'rejected', rejection = c.value, reviewed_at = c.at, updated_at = c.at,
      submitted_at = coalesce(m.submitted_at, c.at)`,
    where: "m.status IN ('draft', 'submitted', 'approved')",
  }),
  endsState({
    kind: 'version_withdrawn',
    counts: 'versions',
    of: 'versions',
    told: `${changed('versions', 'status')} AND p.status = 'draft'`,
    set: "status = 'draft', submitted_at = NULL",
    where: "m.status = 'submitted'",
  }),
  // The time to set up a second factor is not given a second time.
  endsRow({
    kind: 'factor_due',
    counts: 'factors',
    of: 'users',
    told: 'SELECT id, factor_due_at, NULL FROM predecessor.users WHERE factor_due_at IS NOT NULL',
    set: 'factor_due_at = c.at',
    where: '(m.factor_due_at IS NULL OR m.factor_due_at > c.at)',
  }),
  // Removed or reset factors, and recovery codes that were used or replaced.
  endsOnce({ kind: 'totp_key', counts: 'factors', of: 'totp_keys', column: 'ended_at', set: "key = x''" }),
  endsOnce({ kind: 'passkey', counts: 'factors', of: 'passkeys', column: 'ended_at' }),
  endsOnce({ kind: 'recovery_code', counts: 'factors', of: 'recovery_codes', column: 'ended_at' }),
  // Nobody gets a higher role by a restore.
  endsState({
    kind: 'member_role',
    counts: 'members',
    of: 'app_members',
    told: changed('app_members', 'role'),
    set: 'role = c.value',
    where: "m.role <> c.value AND (c.value = 'developer' OR m.role = 'owner')",
  }),
  endsOnce({ kind: 'member', counts: 'members', of: 'app_members', column: 'ended_at', set: 'updated_at = c.at' }),
  rolledBack,
  endsState({
    kind: 'app_secrets_roll_back',
    counts: 'apps',
    of: 'apps',
    told: `${changed('apps', 'secrets_roll_back')} AND p.secrets_roll_back = 0`,
    set: 'secrets_roll_back = 0',
    where: 'm.secrets_roll_back = 1',
  }),
  endsState({
    kind: 'app_hidden',
    counts: 'apps',
    of: 'apps',
    told: `${changed('apps', 'is_listed')} AND p.is_listed = 0`,
    set: 'is_listed = 0',
    where: 'm.is_listed = 1',
  }),
  endsScopes('app_scopes', 'apps', 'scopes', ['token_scopes']),
  endsScopes('app_given_scopes', 'apps', 'given_scopes'),
  retiredScopes,
  // If a client got several in the same millisecond and one of them has ended, all count as ended: doubt is a refusal.
  {
    kind: 'redirect_uri',
    counts: 'redirectUris',
    of: 'audit_events',
    told: `SELECT id, ?1, NULL
      FROM (SELECT e.*, count(*) OVER (PARTITION BY e.target, e.at) AS added FROM ${created('redirect_uri.added')}) AS e
      WHERE added > (SELECT count(*) FROM predecessor.redirect_uris AS u WHERE u.client_id = e.target AND u.created_at = e.at)`,
    done: [
      `DELETE FROM main.redirect_uris
      WHERE (client_id, created_at) IN (SELECT e.target, e.at FROM ${removed('redirect_uri')})
        AND (client_id, uri) NOT IN (SELECT client_id, uri FROM predecessor.redirect_uris)`,
    ],
  },
  endsScopes('install_scopes', 'installs'),
  {
    kind: 'webhook_removed',
    counts: 'webhooks',
    of: 'audit_events',
    told: `SELECT e.id, ?1, NULL FROM ${created('webhook.created')}
      WHERE e.target NOT IN (SELECT id FROM predecessor.webhook_endpoints)`,
    done: ['webhook_secrets WHERE endpoint_id', 'webhook_endpoints WHERE id'].map(
      (rows) => `DELETE FROM main.${rows} IN (SELECT e.target FROM ${removed('webhook_removed')})`,
    ),
  },
  endsState({
    kind: 'webhook_disabled',
    counts: 'webhooks',
    of: 'webhook_endpoints',
    told: "SELECT id, updated_at, reason FROM predecessor.webhook_endpoints WHERE status = 'disabled'",
    set: "status = 'disabled', reason = c.value",
    where: "m.status = 'enabled'",
  }),
  // What was told to another address since must not go to the old one again. The owner enables it after a look at the URL.
  endsState({
    kind: 'webhook_moved',
    counts: 'webhooks',
    of: 'webhook_endpoints',
    told: changed('webhook_endpoints', 'url'),
    set: "status = 'disabled', reason = 'by_hand'",
    where: "m.status = 'enabled' AND m.url <> c.value",
  }),
  // A missing one was purged after its grace period.
  {
    kind: 'webhook_secret',
    counts: 'webhooks',
    of: 'audit_events',
    told: `SELECT e.id, coalesce(s.expires_at, ?1), NULL FROM ${created('webhook.created', 'webhook.secret_rotated')}
      LEFT JOIN predecessor.webhook_secrets AS s ON s.endpoint_id = e.target AND s.created_at = e.at
      WHERE s.id IS NULL OR s.expires_at IS NOT NULL`,
    done: [
      `UPDATE main.webhook_secrets AS m SET expires_at = c.at FROM ${removed('webhook_secret')}
      WHERE m.endpoint_id = e.target AND m.created_at = e.at AND (m.expires_at IS NULL OR m.expires_at > c.at)`,
    ],
  },
  // Suspended by a recovery, and not confirmed since.
  endsOnce({ kind: 'credential_suspended', counts: 'credentials', of: 'credentials', column: 'suspended_at' }),
  endsOnce({ kind: 'service_key_suspended', counts: 'serviceKeys', of: 'service_keys', column: 'suspended_at' }),
  endsOnce({ kind: 'user_suspended', counts: 'passwords', of: 'users', column: 'suspended_at' }),
]

/** Restores that could not read their predecessor, and recoveries: what had ended before them is not known. */
export const unread: Told = {
  kind: 'unread',
  of: 'audit_events',
  told: `SELECT id, at, NULL FROM predecessor.audit_events
    WHERE action = '${proofActions.recovered}'
      OR action = '${proofActions.restored}' AND detail ->> 'predecessor' <> 'read'`,
}
