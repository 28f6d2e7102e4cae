/**
 * The tables as SQLite keeps them; `db/README.md` says what each is for. Times are epoch milliseconds, made by the
 * program; there are no database defaults and no triggers. Constraints and indexes stand in the migrations.
 */
import { customType, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { appStatuses, environments } from '../../src/domain/app.ts'
import { countKinds } from '../../src/domain/count.ts'
import { noAppId, recordId, type RecordPrefix, uuidOfRecordId } from '../../src/domain/identifier.ts'
import { installApprovals, installStates } from '../../src/domain/install.ts'
import { mailFaults, mailKinds, mailStates, mailTopics } from '../../src/domain/mail.ts'
import { memberRoles, offeredRoles } from '../../src/domain/member.ts'
import { resourceKinds, resourceStatuses } from '../../src/domain/resource.ts'
import { ownScopeUses } from '../../src/domain/scope.ts'
import type { SecretHash } from '../../src/domain/secret.ts'
import type { TimeKey } from '../../src/domain/time-key.ts'
import { userStatuses } from '../../src/domain/user.ts'
import { reviewSides, versionStatuses } from '../../src/domain/version.ts'
import { bytes } from './webhooks.ts'

export { webhookAttempts, webhookDeliveries, webhookEndpoints, webhookEvents, webhookSecrets } from './webhooks.ts'

/** A time-ordered key; see `src/domain/time-key.ts`. */
const timeKey = (name: string = '') => integer(name).$type<TimeKey>()

/** A record ID, stored as the 16 bytes of its UUID. A text that is no such ID matches no row, and sorts like a text. */
const recordUuid = (prefix: RecordPrefix) =>
  customType<{ data: string; driverData: Uint8Array }>({
    dataType: () => 'blob',
    fromDriver: (uuid) => recordId(prefix, uuid),
    toDriver: (id) => uuidOfRecordId(prefix, id) ?? (id < prefix ? new Uint8Array(0) : new Uint8Array(17).fill(0xff)),
  })

/** The app of an event. Zeros are read as null: an event without an app must not be written in less time than one with an app. */
const appIdOrNone = customType<{ data: string | null; driverData: string }>({
  dataType: () => 'text',
  fromDriver: (id) => (id === noAppId ? null : id),
})

/** People. `email` is normalised; `passwordHash` is bcrypt. */
export const users = sqliteTable('users', {
  id: text().primaryKey(),
  email: text().notNull(),
  name: text().notNull(),
  pictureUrl: text('picture_url'),
  passwordHash: text('password_hash').notNull(),
  isOperator: integer('is_operator', { mode: 'boolean' }).notNull(),
  status: text({ enum: userStatuses }).notNull(),
  /** When a recovery suspended the person, who cannot sign in in any way until an operator has confirmed them. */
  suspendedAt: integer('suspended_at'),
  /** A sign-in that began before this time gives no session. */
  signInsEndedAt: integer('sign_ins_ended_at'),
  /** The builder's own ID of the person; null if the builder did not send them. */
  externalId: text('external_id'),
  /** When everything personal was removed. */
  erasedAt: integer('erased_at'),
  /** From when on a second factor is required; null until a sign-in has asked for one. */
  factorDueAt: integer('factor_due_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** Signed-in browsers and clients, by the key inside the session secret. */
export const sessions = sqliteTable('sessions', {
  key: text().primaryKey(),
  hash: bytes().$type<SecretHash>().notNull(),
  userId: text('user_id').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  endedAt: integer('ended_at'),
  address: text().notNull(),
  /** What the person would call the browser or program, such as "Firefox on Linux"; null if it did not say. */
  agent: text(),
  lastUsedAt: integer('last_used_at'),
  /** When the person proved who they are at the sign-in; null if another service knew them from before. */
  askedAt: integer('asked_at'),
})

/** What the builder said about a browser that asked to sign in; without a user it refused. */
export const signInRequests = sqliteTable('sign_in_requests', {
  key: text().primaryKey(),
  userId: text('user_id'),
  reason: text(),
  verifierHash: bytes('verifier_hash').$type<SecretHash>().notNull(),
  serviceKeyId: text('service_key_id').notNull(),
  decidedAt: integer('decided_at').notNull(),
  completedAt: integer('completed_at'),
})

/**
 * Accounts of people at identity providers. `addressHolderId` is the user who has the address that the provider says this person has. An
 * ended one lets nobody in. It remembers that the person was unlinked, so that their address does not link them again.
 */
export const identities = sqliteTable(
  'identities',
  {
    issuer: text().notNull(),
    subject: text().notNull(),
    userId: text('user_id').notNull(),
    createdAt: integer('created_at').notNull(),
    addressHolderId: text('address_holder_id'),
    endedAt: integer('ended_at'),
  },
  (table) => [primaryKey({ columns: [table.issuer, table.subject] })],
)

/** Authenticator apps. `lastStep` is the step of the last code that was accepted; the key of an ended one is empty. */
export const totpKeys = sqliteTable('totp_keys', {
  id: text().primaryKey(),
  userId: text('user_id').notNull(),
  key: bytes().notNull(),
  lastStep: integer('last_step').notNull(),
  createdAt: integer('created_at').notNull(),
  lastUsedAt: integer('last_used_at'),
  endedAt: integer('ended_at'),
})

/**
 * Passkeys (WebAuthn). `challengeAt` is the time of the last challenge that was accepted, and `counter` what the authenticator said
 * then: 0 if it does not count.
 */
export const passkeys = sqliteTable('passkeys', {
  id: text().primaryKey(),
  userId: text('user_id').notNull(),
  /** base64url */
  credentialId: text('credential_id').notNull(),
  /** COSE */
  publicKey: bytes('public_key').notNull(),
  counter: integer().notNull(),
  challengeAt: integer('challenge_at').notNull(),
  name: text().notNull(),
  createdAt: integer('created_at').notNull(),
  lastUsedAt: integer('last_used_at'),
  endedAt: integer('ended_at'),
})

/** Recovery codes. Each ends when it is used or replaced. */
export const recoveryCodes = sqliteTable('recovery_codes', {
  id: text().primaryKey(),
  userId: text('user_id').notNull(),
  hash: bytes().$type<SecretHash>().notNull(),
  createdAt: integer('created_at').notNull(),
  endedAt: integer('ended_at'),
})

/** What a person does not want to be told by mail. */
export const mutedMails = sqliteTable(
  'muted_mails',
  { userId: text('user_id').notNull(), topic: text({ enum: mailTopics }).notNull() },
  (table) => [primaryKey({ columns: [table.userId, table.topic] })],
)

/** Links with which a person sets a password, or confirms the new address in `email`. Each ends when it is used, or when the password changes or a newer link is made. */
export const passwordLinks = sqliteTable('password_links', {
  id: text().primaryKey(),
  userId: text('user_id').notNull(),
  hash: bytes().$type<SecretHash>().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  endedAt: integer('ended_at'),
  email: text(),
})

/**
 * The outbox. The ID has the digits of the audit event that a mail tells. `nextAttemptAt` is set while it is pending, `fault` since
 * an attempt has failed.
 */
export const mails = sqliteTable('mails', {
  id: text().primaryKey(),
  kind: text({ enum: mailKinds }).notNull(),
  userId: text('user_id'),
  address: text(),
  state: text({ enum: mailStates }).notNull(),
  attempts: integer().notNull(),
  nextAttemptAt: integer('next_attempt_at'),
  fault: text({ enum: mailFaults }),
  createdAt: integer('created_at').notNull(),
})

/** Random keys that stay on the server: 32 bytes each. `restore` and `recover` replace them. */
export const serverKeys = sqliteTable('server_keys', {
  name: text().primaryKey(),
  key: bytes().notNull(),
  createdAt: integer('created_at').notNull(),
})

/** Browsers in which a user has signed in before. `failures` counts the wrong passwords that came with their cookie. */
export const devices = sqliteTable('devices', {
  id: text().primaryKey(),
  userId: text('user_id').notNull(),
  failures: integer().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
})

/** Forms that have acted, by the key inside their ticket; each acts once. */
export const formTickets = sqliteTable('form_tickets', {
  key: text().primaryKey(),
  spentAt: integer('spent_at').notNull(),
})

/** Registered apps. `scopes` are sorted names with one space between, here and in every table below. */
export const apps = sqliteTable('apps', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  name: text().notNull(),
  slug: text().notNull(),
  status: text({ enum: appStatuses }).notNull(),
  /** What it may ask for: its registered scopes. */
  scopes: text().notNull(),
  /** Those of them that its own tokens can have. */
  tokenScopes: text('token_scopes').notNull(),
  /** Restricted scopes that an operator gave it, so that it may register them. */
  givenScopes: text('given_scopes').notNull(),
  /** Scopes of the operator that it has ever registered: its grants and tokens may still have them. */
  heldScopes: text('held_scopes').notNull(),
  /** Those of them that were retired or taken from it. Tokens that were issued before have them no more. Null: none. */
  lostScopes: text('lost_scopes'),
  developmentVersionId: text('development_version_id'),
  /** Of the newest version that it has ever had; 0: none. A number is not given again after its draft was removed. */
  lastVersionNumber: integer('last_version_number').notNull(),
  /** Whether development secrets may roll back production. */
  secretsRollBack: integer('secrets_roll_back', { mode: 'boolean' }).notNull(),
  /** The name that people read as that of who publishes it. Null: that of the account it belongs to, for people who are signed in. */
  publisher: text(),
  /** Whether the directory has it, once it is live. */
  isListed: integer('is_listed', { mode: 'boolean' }).notNull(),
  /** That of the version that became live last; null: it has none, or no version ever was. The directory is searched for it. */
  description: text(),
  deletedAt: integer('deleted_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** The operator's own scopes. Name and words never change; a retired one stays, so that its name is not used again. */
export const scopes = sqliteTable('scopes', {
  name: text('id').primaryKey(),
  usableBy: text('usable_by', { enum: ownScopeUses }).notNull(),
  words: text().notNull(),
  isRestricted: integer('is_restricted', { mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
  retiredAt: integer('retired_at'),
})

/** Members of an app besides the account that it belongs to. A row ends when the person leaves, is removed or gets the app. */
export const appMembers = sqliteTable('app_members', {
  id: text().primaryKey(),
  appId: text('app_id').notNull(),
  userId: text('user_id').notNull(),
  role: text({ enum: memberRoles }).notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  endedAt: integer('ended_at'),
})

/** Links with which a person becomes a member, or takes over the app. Each ends when it is used or revoked. */
export const appInvitations = sqliteTable('app_invitations', {
  id: text().primaryKey(),
  appId: text('app_id').notNull(),
  email: text().notNull(),
  role: text({ enum: offeredRoles }).notNull(),
  hash: bytes().$type<SecretHash>().notNull(),
  /** That of the link in the last mail; null if none was sent. */
  mailedHash: bytes('mailed_hash').$type<SecretHash>(),
  invitedBy: text('invited_by').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  endedAt: integer('ended_at'),
})

/** An app in one environment; the ID is the public client ID. */
export const clients = sqliteTable('clients', {
  id: text().primaryKey(),
  appId: text('app_id').notNull(),
  environment: text({ enum: environments }).notNull(),
  createdAt: integer('created_at').notNull(),
})

/** Client secrets. `expiresAt` is null unless a rotation has set the end of its grace. `createdBy` is kind and ID of the actor. */
export const credentials = sqliteTable('credentials', {
  id: text().primaryKey(),
  clientId: text('client_id').notNull(),
  secretHash: bytes('secret_hash').$type<SecretHash>().notNull(),
  label: text(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at'),
  revokedAt: integer('revoked_at'),
  lastUsedAt: integer('last_used_at'),
  suspendedAt: integer('suspended_at'),
  /** The last four characters of the secret. */
  hint: text(),
  createdBy: text('created_by'),
})

/**
 * Credentials of the builder itself. `rights` and `networks` are texts with one space between; no network means all.
 * `expiresAt` is the chosen end or that of the grace period of a rotation. Successors have the chosen end, too.
 */
export const serviceKeys = sqliteTable('service_keys', {
  id: text().primaryKey(),
  name: text().notNull(),
  secretHash: bytes('secret_hash').$type<SecretHash>().notNull(),
  rights: text().notNull(),
  networks: text().notNull(),
  createdAt: integer('created_at').notNull(),
  chosenEnd: integer('chosen_end_at'),
  expiresAt: integer('expires_at'),
  revokedAt: integer('revoked_at'),
  suspendedAt: integer('suspended_at'),
  lastUsedAt: integer('last_used_at'),
})

/** Registered redirect URIs, compared byte for byte. Several clients may have the same one, so it identifies none of them. */
export const redirectUris = sqliteTable(
  'redirect_uris',
  {
    clientId: text('client_id').notNull(),
    uri: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.clientId, table.uri] })],
)

/** App tokens, by the key inside the token; each row is also the audit record of its issue. */
export const appTokens = sqliteTable('app_tokens', {
  key: timeKey().primaryKey(),
  hash: bytes().$type<SecretHash>().notNull(),
  credentialId: text('credential_id').notNull(),
  scopes: text().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  revokedAt: integer('revoked_at'),
  requestId: text('request_id').notNull(),
  address: text().notNull(),
})

/** Authorizations of a client by a user. `currentKey` names the one code or refresh token that may continue it. */
export const grants = sqliteTable('grants', {
  key: timeKey().primaryKey(),
  id: recordUuid('grt_')().notNull(),
  userId: text('user_id').notNull(),
  appId: text('app_id').notNull(),
  clientId: text('client_id').notNull(),
  scopes: text().notNull(),
  currentKey: timeKey('current_key').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  revokedAt: integer('revoked_at'),
  retryKey: timeKey('retry_key'),
  retrySalt: bytes('retry_salt'),
  retryFingerprint: bytes('retry_fingerprint'),
  retryUntil: integer('retry_until'),
})

/** Codes, spent or not; they stay as long as their grant, so that a second use is recognised. */
export const authorizationCodes = sqliteTable('authorization_codes', {
  key: timeKey().primaryKey(),
  hash: bytes().$type<SecretHash>().notNull(),
  grantKey: timeKey('grant_key').notNull(),
  redirectUri: text('redirect_uri').notNull(),
  codeChallenge: text('code_challenge').notNull(),
  expiresAt: integer('expires_at').notNull(),
})

/** An access and a refresh token under one key. `previousKey` is the code or pair that was spent for it. */
export const tokenPairs = sqliteTable('token_pairs', {
  key: timeKey().primaryKey(),
  grantKey: timeKey('grant_key').notNull(),
  previousKey: timeKey('previous_key').notNull(),
  accessHash: bytes('access_hash').$type<SecretHash>().notNull(),
  refreshHash: bytes('refresh_hash').$type<SecretHash>().notNull(),
  scopes: text().notNull(),
  createdAt: integer('created_at').notNull(),
  accessExpiresAt: integer('access_expires_at').notNull(),
  refreshExpiresAt: integer('refresh_expires_at').notNull(),
  requestId: text('request_id').notNull(),
  address: text().notNull(),
})

/** Websites and stores of users. `publishedAt` is null until it has been published. */
export const resources = sqliteTable('resources', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  kind: text({ enum: resourceKinds }).notNull(),
  name: text().notNull(),
  slug: text().notNull(),
  status: text({ enum: resourceStatuses }).notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  publishedAt: integer('published_at'),
  /** The builder's own ID; null if the builder did not send it. */
  externalId: text('external_id'),
  /** When the builder removed it: its name is gone, and only its ID stays. */
  deletedAt: integer('deleted_at'),
})

/** Lines of an import of resources, until all of them are known to be right. */
export const stagedResources = sqliteTable(
  'staged_resources',
  {
    /** Of the import; sorts by time. */
    importKey: text('import_key').notNull(),
    line: integer().notNull(),
    /**
     * What it does to its resource: creates it; changes its owner, slug or external ID, and perhaps more; changes anything else; or
     * nothing.
     */
    change: text({ enum: ['create', 'move', 'update', 'none'] }).notNull(),
    /** The stored resource that the line is about, or what the new one is called. */
    resourceId: text('resource_id').notNull(),
    ownerId: text('owner_id').notNull(),
    kind: text({ enum: resourceKinds }).notNull(),
    externalId: text('external_id'),
    name: text().notNull(),
    slug: text().notNull(),
    status: text({ enum: resourceStatuses }).notNull(),
    /** What the line says; null where it says nothing. */
    createdAt: integer('created_at'),
    updatedAt: integer('updated_at'),
    publishedAt: integer('published_at'),
    /** What a new resource gets. */
    newCreatedAt: integer('new_created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.importKey, table.line] })],
)

/**
 * Installs of apps on resources: what the owner agreed to, what the operator said, and whether they are in use. In
 * `development` the development head opens, for its developer alone.
 */
export const installs = sqliteTable('installs', {
  id: text().primaryKey(),
  appId: text('app_id').notNull(),
  userId: text('user_id').notNull(),
  resourceId: text('resource_id').notNull(),
  environment: text({ enum: environments }).notNull(),
  scopes: text().notNull(),
  approval: text({ enum: installApprovals }).notNull(),
  state: text({ enum: installStates }).notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** The columns that the code and the session of a frame have in common. */
const embedding = {
  key: text().primaryKey(),
  hash: bytes().$type<SecretHash>().notNull(),
  installId: text('install_id').notNull(),
  sessionKey: text('session_key').notNull(),
  clientId: text('client_id').notNull(),
  origin: text().notNull(),
  scopes: text().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
}

/** One-time codes with which the page in a frame gets its session; spent or not, they stay as long as that could live. */
export const installSessionCodes = sqliteTable('install_session_codes', {
  ...embedding,
  spentAt: integer('spent_at'),
  gaveKey: text('gave_key'),
  spentFrom: text('spent_from'),
})

/** What the page in a frame calls with. */
export const embeddedSessions = sqliteTable('embedded_sessions', { ...embedding, endedAt: integer('ended_at') })

/** Versions of apps. `manifest` and `rejection` are JSON that the program wrote. */
export const versions = sqliteTable('versions', {
  id: text().primaryKey(),
  appId: text('app_id').notNull(),
  number: integer().notNull(),
  version: text().notNull(),
  status: text({ enum: versionStatuses }).notNull(),
  revision: integer().notNull(),
  /** The icon that its manifest names, and where it is in the artifact: an `ArchivedPlace`. */
  iconSha256: bytes('icon_sha256'),
  iconPlace: text('icon_place'),
  /** That of the manifest, for lists and searches, which do not read whole manifests. */
  description: text(),
  notes: text(),
  manifest: text().notNull(),
  scopes: text().notNull(),
  artifactSha256: bytes('artifact_sha256'),
  artifactFilename: text('artifact_filename'),
  artifactSizeBytes: integer('artifact_size_bytes'),
  rejection: text(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  submittedAt: integer('submitted_at'),
  reviewedAt: integer('reviewed_at'),
  /** Null for who has no account here, such as somebody at the command line. */
  reviewedBy: text('reviewed_by'),
  activatedAt: integer('activated_at'),
})

/** Uploaded files by their SHA-256. `createdAt` is when the file was last uploaded. */
export const artifacts = sqliteTable('artifacts', {
  sha256: bytes().primaryKey(),
  sizeBytes: integer('size_bytes').notNull(),
  createdAt: integer('created_at').notNull(),
})

/** The content of artifacts in pieces of 256 KiB, numbered from 0. */
export const artifactChunks = sqliteTable(
  'artifact_chunks',
  {
    sha256: bytes().notNull(),
    position: integer().notNull(),
    data: bytes().notNull(),
  },
  (table) => [primaryKey({ columns: [table.sha256, table.position] })],
)

/** What operators have asked about a version, and what its developers have answered. */
export const reviewMessages = sqliteTable('review_messages', {
  id: text().primaryKey(),
  appId: text('app_id').notNull(),
  versionId: text('version_id').notNull(),
  authorId: text('author_id').notNull(),
  side: text({ enum: reviewSides }).notNull(),
  text: text().notNull(),
  createdAt: integer('created_at').notNull(),
})

/** The ledger of rollbacks that happened; dry runs are not in it. */
export const rollbacks = sqliteTable('rollbacks', {
  id: text().primaryKey(),
  appId: text('app_id').notNull(),
  environment: text({ enum: environments }).notNull(),
  fromVersionId: text('from_version_id').notNull(),
  toVersionId: text('to_version_id').notNull(),
  reason: text(),
  createdAt: integer('created_at').notNull(),
})

/**
 * Which version of an app was live in production, one after the other. The last one is the live version. `rollbackId` is null
 * unless a rollback made it live.
 */
export const liveChanges = sqliteTable(
  'live_changes',
  {
    appId: text('app_id').notNull(),
    position: integer().notNull(),
    versionId: text('version_id').notNull(),
    rollbackId: text('rollback_id'),
    liveAt: integer('live_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.appId, table.position] })],
)

/** Answers to repeatable requests; `key` is the SHA-256 of what the caller chose, `outcome` is JSON. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    principal: text().notNull(),
    method: text().notNull(),
    path: text().notNull(),
    key: text().notNull(),
    bodyHash: bytes('body_hash').notNull(),
    outcome: text().notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.principal, table.method, table.path, table.key] })],
)

/** State changes and refusals; `detail` is JSON of IDs, states and counts, never of secrets. */
export const auditEvents = sqliteTable('audit_events', {
  id: text().primaryKey(),
  at: integer().notNull(),
  actorKind: text('actor_kind', { enum: ['app', 'user', 'operator', 'anonymous', 'system'] }).notNull(),
  actorId: text('actor_id'),
  appId: appIdOrNone('app_id'),
  environment: text({ enum: environments }),
  action: text().notNull(),
  target: text(),
  outcome: text({ enum: ['done', 'refused'] }).notNull(),
  reason: text(),
  detail: text(),
  requestId: text('request_id').notNull(),
  address: text().notNull(),
})

/** The order in which readers of the audit log got to see its events: from 1, without gaps. */
export const auditPositions = sqliteTable('audit_positions', {
  position: integer().primaryKey(),
  eventId: text('event_id').notNull(),
})

/** What the dashboards show. `hour` is when it began; of a day that is well over there is one row, for its first hour. */
export const hourlyCounts = sqliteTable(
  'hourly_counts',
  {
    appId: text('app_id').notNull(),
    environment: text({ enum: environments }).notNull(),
    kind: text({ enum: countKinds }).notNull(),
    hour: integer().notNull(),
    count: integer().notNull(),
  },
  ({ appId, hour, environment, kind }) => [primaryKey({ columns: [appId, hour, environment, kind] })],
)

/** Who was counted as an active user of an app on a day, and in which hour of it first. */
export const dailyUsers = sqliteTable(
  'daily_users',
  {
    day: integer().notNull(),
    appId: text('app_id').notNull(),
    environment: text({ enum: environments }).notNull(),
    userId: text('user_id').notNull(),
    hour: integer().notNull(),
  },
  ({ day, appId, environment, userId }) => [primaryKey({ columns: [day, appId, environment, userId] })],
)

/** The settings of the server that started last, as they were given and without secrets: what a command goes by that has none of its own. */
export const serverSettings = sqliteTable('server_settings', { name: text().primaryKey(), value: text().notNull() })

/** Moments that outlive a restart; `db/README.md` lists them. */
export const watermarks = sqliteTable('watermarks', {
  name: text({
    enum: [
      'clock',
      'restored',
      'recovered',
      'moved',
      'sealed',
      'backed_up',
      'counted',
      'imported',
      'told',
      'demo',
      'migrated_from',
      'migrated_to',
    ],
  }).primaryKey(),
  at: integer().notNull(),
})

/** Ends that a restore must not undo; `db/restore/ends.ts` names the kinds. */
export const carriedEnds = sqliteTable(
  'carried_ends',
  {
    kind: text().notNull(),
    target: text().notNull(),
    at: integer().notNull(),
    value: text(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.target] })],
)
