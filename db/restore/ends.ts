import { changedHands, identityRemoved, memberEnds, rolledBack } from './changed-hands.ts'
import { type End, rowEnd, type Told, unlessSame } from './end.ts'
import { type ProofAction, proofActions } from '../queries/audit.ts'
import { erasedUserText, erasureTexts } from '../queries/personal.ts'

/** Events of the predecessor that record the creation of something. Joined through apps to use the audit index. */
const making = (...actions: readonly ProofAction[]) => `
  present.apps AS a JOIN present.audit_events AS e
  ON e.app_id = a.id AND e.action IN (${actions.map((action) => `'${action}'`).join(', ')})`

/** Ends of a kind, each with the event that records the creation of what has ended. */
const made = (kind: string) => `
  main.carried_ends AS c JOIN main.audit_events AS e ON e.id = c.target AND c.kind = '${kind}'`

/** The names that two lists of scopes have in common, in order. */
const common = (one: string, other: string) => `(
  SELECT coalesce(group_concat(value, ' '), '') FROM (
    SELECT value FROM json_each('["' || replace(${one}, ' ', '","') || '"]')
    WHERE instr(' ' || ${other} || ' ', ' ' || value || ' ') > 0 ORDER BY key))`

/** Scopes of an app or an install that were withdrawn. Those that were added since are not given. */
const scopesOf = (of: 'apps' | 'installs', kind: string): End =>
  rowEnd({
    kind,
    counts: 'scopes',
    of,
    told: `SELECT p.id, p.updated_at, p.scopes FROM present.${of} AS p ${unlessSame(of, 'scopes')}`,
    set: `scopes = ${common('m.scopes', 'c.value')}, updated_at = c.at`,
    where: `c.at >= m.updated_at AND m.scopes <> ${common('m.scopes', 'c.value')}`,
  })

const erasedUsers = "(SELECT target FROM main.carried_ends WHERE kind = 'user_erased')"

/** Everything personal goes again. */
const userErased: End = {
  ...rowEnd({
    kind: 'user_erased',
    counts: 'users',
    of: 'users',
    told: 'SELECT id, erased_at, NULL FROM present.users WHERE erased_at IS NOT NULL',
    set: `${erasedUserText}, erased_at = c.at, updated_at = c.at`,
    where: 'm.erased_at IS NULL',
  }),
  first: erasureTexts(erasedUsers),
}

const rowEnds: readonly End[] = [
  rowEnd({
    kind: 'credential',
    counts: 'credentials',
    of: 'credentials',
    told: `SELECT id, coalesce(revoked_at, expires_at), iif(revoked_at IS NULL, 'expires', 'revoked')
      FROM present.credentials WHERE revoked_at IS NOT NULL OR expires_at IS NOT NULL`,
    set: `revoked_at = iif(c.value = 'revoked', c.at, NULL), expires_at = iif(c.value = 'expires', c.at, m.expires_at)`,
    where: `m.revoked_at IS NULL AND (c.value = 'revoked' OR m.expires_at IS NULL OR m.expires_at > c.at)`,
  }),
  rowEnd({
    kind: 'service_key',
    counts: 'serviceKeys',
    of: 'service_keys',
    told: `SELECT id, coalesce(revoked_at, expires_at), iif(revoked_at IS NULL, 'expires', 'revoked')
      FROM present.service_keys WHERE revoked_at IS NOT NULL OR expires_at IS NOT NULL`,
    set: `revoked_at = iif(c.value = 'revoked', c.at, NULL), expires_at = iif(c.value = 'expires', c.at, m.expires_at)`,
    where: `m.revoked_at IS NULL AND (c.value = 'revoked' OR m.expires_at IS NULL OR m.expires_at > c.at)`,
  }),
  rowEnd({
    kind: 'app_suspended',
    counts: 'apps',
    of: 'apps',
    told: "SELECT id, updated_at, NULL FROM present.apps WHERE status = 'suspended'",
    set: "status = 'suspended', updated_at = c.at",
    where: "m.status = 'active' AND c.at >= m.updated_at",
  }),
  rowEnd({
    kind: 'user_disabled',
    counts: 'users',
    of: 'users',
    told: "SELECT id, updated_at, NULL FROM present.users WHERE status = 'disabled'",
    set: "status = 'disabled', updated_at = c.at",
    where: "m.status = 'active' AND c.at >= m.updated_at",
  }),
  userErased,
  rowEnd({
    kind: 'resource_deleted',
    counts: 'resources',
    of: 'resources',
    told: 'SELECT id, deleted_at, NULL FROM present.resources WHERE deleted_at IS NOT NULL',
    set: `name = '', slug = m.id, status = 'archived', external_id = NULL, deleted_at = c.at, updated_at = c.at`,
    where: 'm.deleted_at IS NULL AND c.at >= m.updated_at',
  }),
  rowEnd({
    kind: 'user_password',
    counts: 'passwords',
    of: 'users',
    told: `SELECT p.id, p.updated_at, p.password_hash FROM present.users AS p ${unlessSame('users', 'password_hash')}`,
    set: 'password_hash = c.value, updated_at = c.at',
    where: 'm.password_hash <> c.value AND c.at >= m.updated_at',
  }),
  rowEnd({
    kind: 'operator',
    counts: 'operators',
    of: 'users',
    told: `SELECT p.id, p.updated_at, NULL
      FROM present.users AS p ${unlessSame('users', 'is_operator')} AND p.is_operator = 0`,
    set: 'is_operator = 0, updated_at = c.at',
    where: 'm.is_operator = 1 AND c.at >= m.updated_at',
  }),
  rowEnd({
    kind: 'install',
    counts: 'installs',
    of: 'installs',
    told: `SELECT id, updated_at, approval FROM present.installs WHERE state = 'inactive' AND approval <> 'pending'`,
    set: "approval = c.value, state = 'inactive', updated_at = c.at",
    where: "(m.state = 'active' OR m.approval = 'pending')",
  }),
  rowEnd({
    kind: 'version_rejected',
    counts: 'versions',
    of: 'versions',
    told: `SELECT id, reviewed_at, rejection FROM present.versions WHERE status = 'rejected'`,
    set: `status = 'rejected', rejection = c.value, reviewed_at = c.at, updated_at = c.at,
      submitted_at = coalesce(m.submitted_at, c.at)`,
    where: "m.status IN ('draft', 'submitted', 'approved')",
  }),
  rowEnd({
    kind: 'version_withdrawn',
    counts: 'versions',
    of: 'versions',
    told: `SELECT p.id, p.updated_at, NULL
      FROM present.versions AS p ${unlessSame('versions', 'status')} AND p.status = 'draft'`,
    set: "status = 'draft', submitted_at = NULL, updated_at = c.at",
    where: "m.status = 'submitted' AND c.at >= m.updated_at",
  }),
]

/** The time to set up a second factor is not given a second time. Factors that were removed or reset, and recovery codes that were used or replaced. */
const factorEnds: readonly End[] = [
  rowEnd({
    kind: 'factor_due',
    counts: 'factors',
    of: 'users',
    told: 'SELECT id, factor_due_at, NULL FROM present.users WHERE factor_due_at IS NOT NULL',
    set: 'factor_due_at = c.at',
    where: '(m.factor_due_at IS NULL OR m.factor_due_at > c.at)',
  }),
  rowEnd({
    kind: 'totp_key',
    counts: 'factors',
    of: 'totp_keys',
    told: 'SELECT id, ended_at, NULL FROM present.totp_keys WHERE ended_at IS NOT NULL',
    set: "key = x'', ended_at = c.at",
    where: 'm.ended_at IS NULL',
  }),
  rowEnd({
    kind: 'passkey',
    counts: 'factors',
    of: 'passkeys',
    told: 'SELECT id, ended_at, NULL FROM present.passkeys WHERE ended_at IS NOT NULL',
    set: 'ended_at = c.at',
    where: 'm.ended_at IS NULL',
  }),
  rowEnd({
    kind: 'recovery_code',
    counts: 'factors',
    of: 'recovery_codes',
    told: 'SELECT id, ended_at, NULL FROM present.recovery_codes WHERE ended_at IS NOT NULL',
    set: 'ended_at = c.at',
    where: 'm.ended_at IS NULL',
  }),
]

const redirectUri: End = {
  kind: 'redirect_uri',
  counts: 'redirectUris',
  of: 'audit_events',
  // If a client got several in the same millisecond and one of them has ended, all count as ended: doubt is a refusal.
  told: `SELECT id, ?1, NULL
    FROM (SELECT e.*, count(*) OVER (PARTITION BY e.target, e.at) AS added FROM ${making('redirect_uri.added')}) AS e
    WHERE added > (SELECT count(*) FROM present.redirect_uris AS u WHERE u.client_id = e.target AND u.created_at = e.at)`,
  done: [
    `DELETE FROM main.redirect_uris
    WHERE (client_id, created_at) IN (SELECT e.target, e.at FROM ${made('redirect_uri')})
      AND (client_id, uri) NOT IN (SELECT client_id, uri FROM present.redirect_uris)`,
  ],
}

const webhookEnds: readonly End[] = [
  {
    kind: 'webhook_removed',
    counts: 'webhooks',
    of: 'audit_events',
    told: `SELECT e.id, ?1, NULL FROM ${making('webhook.created')}
      WHERE e.target NOT IN (SELECT id FROM present.webhook_endpoints)`,
    done: ['webhook_secrets WHERE endpoint_id', 'webhook_endpoints WHERE id'].map(
      (rows) => `DELETE FROM main.${rows} IN (SELECT e.target FROM ${made('webhook_removed')})`,
    ),
  },
  rowEnd({
    kind: 'webhook_disabled',
    counts: 'webhooks',
    of: 'webhook_endpoints',
    told: "SELECT id, updated_at, reason FROM present.webhook_endpoints WHERE status = 'disabled'",
    set: "status = 'disabled', reason = c.value, updated_at = c.at",
    where: "m.status = 'enabled' AND c.at >= m.updated_at",
  }),
  // What was told to another address since must not go to the old one again. The owner enables it after a look at the URL.
  rowEnd({
    kind: 'webhook_moved',
    counts: 'webhooks',
    of: 'webhook_endpoints',
    told: `SELECT p.id, p.updated_at, p.url FROM present.webhook_endpoints AS p ${unlessSame('webhook_endpoints', 'url')}`,
    set: "status = 'disabled', reason = 'by_hand', updated_at = c.at",
    where: "m.status = 'enabled' AND m.url <> c.value AND c.at >= m.updated_at",
  }),
  {
    kind: 'webhook_secret',
    counts: 'webhooks',
    of: 'audit_events',
    // A missing one was purged after its grace period.
    told: `SELECT e.id, coalesce(s.expires_at, ?1), NULL FROM ${making('webhook.created', 'webhook.secret_rotated')}
      LEFT JOIN present.webhook_secrets AS s ON s.endpoint_id = e.target AND s.created_at = e.at
      WHERE s.id IS NULL OR s.expires_at IS NOT NULL`,
    done: [
      `UPDATE main.webhook_secrets AS m SET expires_at = c.at FROM ${made('webhook_secret')}
      WHERE m.endpoint_id = e.target AND m.created_at = e.at AND (m.expires_at IS NULL OR m.expires_at > c.at)`,
    ],
  },
]

/** Suspended by a recovery, and not confirmed since. */
const suspensions: readonly End[] = [
  rowEnd({
    kind: 'credential_suspended',
    counts: 'credentials',
    of: 'credentials',
    told: 'SELECT id, suspended_at, NULL FROM present.credentials WHERE suspended_at IS NOT NULL',
    set: 'suspended_at = c.at',
    where: 'm.suspended_at IS NULL',
  }),
  rowEnd({
    kind: 'service_key_suspended',
    counts: 'serviceKeys',
    of: 'service_keys',
    told: 'SELECT id, suspended_at, NULL FROM present.service_keys WHERE suspended_at IS NOT NULL',
    set: 'suspended_at = c.at',
    where: 'm.suspended_at IS NULL',
  }),
  rowEnd({
    kind: 'user_suspended',
    counts: 'passwords',
    of: 'users',
    told: 'SELECT id, suspended_at, NULL FROM present.users WHERE suspended_at IS NOT NULL',
    set: 'suspended_at = c.at',
    where: 'm.suspended_at IS NULL',
  }),
]

/** Everything that a restore must not revive, except what was issued, which ends with every restore. */
export const ends: readonly End[] = [
  ...changedHands,
  identityRemoved,
  ...rowEnds,
  ...factorEnds,
  ...memberEnds,
  rolledBack,
  scopesOf('apps', 'app_scopes'),
  redirectUri,
  scopesOf('installs', 'install_scopes'),
  ...webhookEnds,
  ...suspensions,
]

/** Restores that could not read what they replaced, and recoveries: what had ended before them is not known. */
export const unread: Told = {
  kind: 'unread',
  of: 'audit_events',
  told: `SELECT id, at, NULL FROM present.audit_events
    WHERE action = '${proofActions.recovered}'
      OR action = '${proofActions.restored}' AND detail ->> 'predecessor' <> 'read'`,
}
