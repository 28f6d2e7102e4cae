-- Every table of both engines, in the words of SQLite; `index.ts` translates it for PostgreSQL. `db/README.md` says what each table is for.
-- STRICT everywhere; WITHOUT ROWID where the key is time-ordered or small and is the only way in.

CREATE TABLE users (
  id TEXT PRIMARY KEY NOT NULL,
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  picture_url TEXT,
  password_hash TEXT NOT NULL,
  is_operator INTEGER NOT NULL CHECK (is_operator IN (0, 1)),
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  suspended_at INTEGER,
  sign_ins_ended_at INTEGER,
  external_id TEXT,
  erased_at INTEGER,
  factor_due_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX users_operators ON users (id) WHERE is_operator = 1;
CREATE UNIQUE INDEX users_by_external_id ON users (external_id) WHERE external_id IS NOT NULL;
CREATE INDEX users_erased ON users (erased_at) WHERE erased_at IS NOT NULL;

CREATE TABLE sessions (
  key TEXT PRIMARY KEY NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  address TEXT NOT NULL,
  agent TEXT,
  last_used_at INTEGER,
  asked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE TABLE apps (
  id TEXT PRIMARY KEY NOT NULL,
  owner_id TEXT NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
  scopes TEXT NOT NULL,
  token_scopes TEXT NOT NULL,
  given_scopes TEXT NOT NULL,
  held_scopes TEXT NOT NULL,
  lost_scopes TEXT,
  development_version_id TEXT REFERENCES versions (id),
  last_version_number INTEGER NOT NULL CHECK (last_version_number >= 0),
  secrets_roll_back INTEGER NOT NULL CHECK (secrets_roll_back IN (0, 1)),
  publisher TEXT,
  is_listed INTEGER NOT NULL CHECK (is_listed IN (0, 1)),
  description TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX apps_by_owner ON apps (owner_id);
CREATE INDEX apps_deleted ON apps (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX apps_in_directory
  ON apps (slug, status, deleted_at, is_listed, name, publisher, description, owner_id);

CREATE TABLE scopes (
  id TEXT PRIMARY KEY NOT NULL,
  usable_by TEXT NOT NULL CHECK (usable_by IN ('app', 'user', 'both')),
  words TEXT NOT NULL,
  is_restricted INTEGER NOT NULL CHECK (is_restricted IN (0, 1)),
  created_at INTEGER NOT NULL,
  retired_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE clients (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  created_at INTEGER NOT NULL,
  UNIQUE (app_id, environment)
) STRICT, WITHOUT ROWID;

CREATE TABLE credentials (
  id TEXT PRIMARY KEY NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (id),
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
  label TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER,
  suspended_at INTEGER,
  hint TEXT,
  created_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX credentials_by_client ON credentials (client_id);

CREATE TABLE redirect_uris (
  client_id TEXT NOT NULL REFERENCES clients (id),
  uri TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (client_id, uri)
) STRICT, WITHOUT ROWID;

CREATE TABLE resources (
  id TEXT PRIMARY KEY NOT NULL,
  owner_id TEXT NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL CHECK (kind IN ('site', 'store')),
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  published_at INTEGER,
  external_id TEXT,
  deleted_at INTEGER,
  UNIQUE (owner_id, kind, slug)
) STRICT, WITHOUT ROWID;
CREATE INDEX resources_listed
  ON resources (owner_id, kind, slug, name, status, created_at, updated_at, published_at);
CREATE UNIQUE INDEX resources_by_external_id ON resources (kind, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE artifacts (
  sha256 BLOB PRIMARY KEY NOT NULL CHECK (length(sha256) = 32),
  size_bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE artifact_chunks (
  sha256 BLOB NOT NULL,
  position INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (sha256, position)
) STRICT;

CREATE TABLE versions (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  number INTEGER NOT NULL,
  version TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'submitted', 'approved', 'active', 'superseded', 'rejected')),
  revision INTEGER NOT NULL,
  icon_sha256 BLOB CHECK (length(icon_sha256) = 32),
  icon_place TEXT,
  description TEXT,
  notes TEXT,
  manifest TEXT NOT NULL,
  scopes TEXT NOT NULL,
  artifact_sha256 BLOB REFERENCES artifacts (sha256),
  artifact_filename TEXT,
  artifact_size_bytes INTEGER,
  rejection TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  submitted_at INTEGER,
  reviewed_at INTEGER,
  reviewed_by TEXT REFERENCES users (id),
  activated_at INTEGER,
  UNIQUE (app_id, number),
  UNIQUE (app_id, version)
) STRICT;
CREATE UNIQUE INDEX versions_active ON versions (app_id) WHERE status = 'active';
CREATE INDEX versions_by_artifact ON versions (artifact_sha256) WHERE artifact_sha256 IS NOT NULL;
CREATE INDEX versions_by_icon ON versions (icon_sha256) WHERE status = 'active' AND icon_sha256 IS NOT NULL;
CREATE INDEX versions_submitted ON versions (submitted_at) WHERE status = 'submitted';
CREATE INDEX versions_reviewed ON versions (reviewed_at) WHERE reviewed_at IS NOT NULL;
CREATE INDEX versions_approved ON versions (reviewed_at) WHERE status = 'approved';
CREATE INDEX versions_by_app_artifact ON versions (app_id, artifact_sha256, artifact_size_bytes, id)
  WHERE artifact_sha256 IS NOT NULL;

CREATE TABLE review_messages (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  version_id TEXT NOT NULL REFERENCES versions (id),
  author_id TEXT NOT NULL REFERENCES users (id),
  side TEXT NOT NULL CHECK (side IN ('operators', 'members')),
  text TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX review_messages_by_version ON review_messages (version_id);
CREATE INDEX review_messages_by_author ON review_messages (author_id);
CREATE INDEX review_messages_by_app ON review_messages (app_id);

CREATE TABLE rollbacks (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  from_version_id TEXT NOT NULL,
  to_version_id TEXT NOT NULL,
  reason TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rollbacks_by_app ON rollbacks (app_id);

CREATE TABLE live_changes (
  app_id TEXT NOT NULL REFERENCES apps (id),
  position INTEGER NOT NULL,
  version_id TEXT NOT NULL REFERENCES versions (id),
  rollback_id TEXT UNIQUE REFERENCES rollbacks (id),
  live_at INTEGER NOT NULL,
  PRIMARY KEY (app_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX live_changes_by_version ON live_changes (version_id);

CREATE TABLE idempotency_keys (
  principal TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
  outcome TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (principal, method, path, key)
) STRICT;
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

CREATE TABLE audit_events (
  id TEXT PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('app', 'user', 'operator', 'anonymous', 'system')),
  actor_id TEXT,
  app_id TEXT,
  environment TEXT CHECK (environment IN ('development', 'production')),
  action TEXT NOT NULL,
  target TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'refused')),
  reason TEXT,
  detail TEXT,
  request_id TEXT NOT NULL,
  address TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_events_by_app ON audit_events (app_id, id) WHERE app_id IS NOT NULL;
CREATE INDEX audit_events_by_app_and_action ON audit_events (app_id, action, id) WHERE app_id IS NOT NULL;
CREATE INDEX audit_events_anonymous ON audit_events (id) WHERE actor_kind = 'anonymous';

CREATE TABLE form_tickets (
  key TEXT PRIMARY KEY NOT NULL,
  spent_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE installs (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  resource_id TEXT NOT NULL REFERENCES resources (id),
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  scopes TEXT NOT NULL,
  approval TEXT NOT NULL CHECK (approval IN ('pending', 'approved', 'rejected', 'withdrawn')),
  state TEXT NOT NULL CHECK (state IN ('active', 'inactive')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK (state = 'inactive' OR approval = 'approved')
) STRICT, WITHOUT ROWID;
CREATE INDEX installs_pending ON installs (id) WHERE approval = 'pending';
CREATE INDEX installs_by_app ON installs (app_id, id, approval, state);
CREATE INDEX installs_by_user ON installs (user_id, id);
CREATE INDEX installs_by_app_and_user ON installs (app_id, user_id, approval, state, environment);
CREATE UNIQUE INDEX installs_open ON installs (resource_id, app_id) WHERE approval = 'pending' OR state = 'active';

CREATE TABLE install_session_codes (
  key TEXT PRIMARY KEY NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  install_id TEXT NOT NULL,
  session_key TEXT NOT NULL,
  client_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  spent_at INTEGER,
  gave_key TEXT,
  spent_from TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX install_session_codes_by_origin ON install_session_codes (origin);

CREATE TABLE embedded_sessions (
  key TEXT PRIMARY KEY NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  install_id TEXT NOT NULL,
  session_key TEXT NOT NULL,
  client_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT REFERENCES apps (id),
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  url TEXT NOT NULL,
  kinds TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('enabled', 'disabled')),
  reason TEXT CHECK (reason IN ('by_hand', 'gone', 'failing')),
  failing_since INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((status = 'disabled') = (reason IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_endpoints_by_app ON webhook_endpoints (app_id, environment, id);

CREATE TABLE webhook_secrets (
  id TEXT PRIMARY KEY NOT NULL,
  endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id),
  secret BLOB NOT NULL CHECK (length(secret) = 32),
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_secrets_by_endpoint ON webhook_secrets (endpoint_id, id);
CREATE INDEX webhook_secrets_by_expiry ON webhook_secrets (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE webhook_events (
  position INTEGER PRIMARY KEY NOT NULL,
  id TEXT NOT NULL UNIQUE,
  app_id TEXT NOT NULL,
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  kind TEXT NOT NULL,
  body TEXT NOT NULL CHECK (length(body) < 20000),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE webhook_deliveries (
  position INTEGER NOT NULL,
  endpoint_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER,
  PRIMARY KEY (position, endpoint_id),
  CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (endpoint_id, state, position);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

CREATE TABLE webhook_attempts (
  id TEXT PRIMARY KEY NOT NULL,
  endpoint_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  answer TEXT NOT NULL,
  url TEXT,
  sent_headers TEXT,
  answer_headers TEXT
) STRICT;
CREATE INDEX webhook_attempts_by_endpoint ON webhook_attempts (endpoint_id, id);

CREATE TABLE carried_ends (
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  at INTEGER NOT NULL,
  value TEXT,
  PRIMARY KEY (kind, target)
) STRICT, WITHOUT ROWID;

CREATE TABLE server_keys (
  name TEXT PRIMARY KEY NOT NULL,
  key BLOB NOT NULL CHECK (length(key) = 32),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE devices (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  failures INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_by_user ON devices (user_id);

CREATE TABLE app_tokens (
  key INTEGER PRIMARY KEY NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  credential_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  request_id TEXT NOT NULL,
  address TEXT NOT NULL
) STRICT;

CREATE TABLE grants (
  key INTEGER PRIMARY KEY NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  user_id TEXT NOT NULL REFERENCES users (id),
  app_id TEXT NOT NULL REFERENCES apps (id),
  client_id TEXT NOT NULL REFERENCES clients (id),
  scopes TEXT NOT NULL,
  current_key INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  retry_key INTEGER,
  retry_salt BLOB CHECK (length(retry_salt) = 32),
  retry_fingerprint BLOB CHECK (length(retry_fingerprint) = 32),
  retry_until INTEGER
) STRICT;
CREATE UNIQUE INDEX grants_by_id ON grants (id);
CREATE INDEX grants_by_user ON grants (user_id);
CREATE INDEX grants_by_client ON grants (client_id);

CREATE TABLE authorization_codes (
  key INTEGER PRIMARY KEY NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  grant_key INTEGER NOT NULL,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT NOT NULL CHECK (length(code_challenge) = 43),
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE token_pairs (
  key INTEGER PRIMARY KEY NOT NULL,
  grant_key INTEGER NOT NULL,
  previous_key INTEGER NOT NULL,
  access_hash BLOB NOT NULL CHECK (length(access_hash) = 32),
  refresh_hash BLOB NOT NULL CHECK (length(refresh_hash) = 32),
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  access_expires_at INTEGER NOT NULL,
  refresh_expires_at INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  address TEXT NOT NULL
) STRICT;

CREATE TABLE service_keys (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
  rights TEXT NOT NULL,
  networks TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  chosen_end_at INTEGER,
  expires_at INTEGER,
  revoked_at INTEGER,
  suspended_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE hourly_counts (
  app_id TEXT NOT NULL REFERENCES apps (id),
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  kind TEXT NOT NULL
    CHECK (kind IN ('tokens', 'active_users', 'installs', 'webhook_successes', 'webhook_failures')),
  hour INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (app_id, hour, environment, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX hourly_counts_by_hour ON hourly_counts (hour);
CREATE INDEX hourly_counts_unmerged ON hourly_counts (hour) WHERE hour % 86400000 <> 0;

CREATE TABLE daily_users (
  day INTEGER NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  user_id TEXT NOT NULL REFERENCES users (id),
  hour INTEGER NOT NULL,
  PRIMARY KEY (day, app_id, environment, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX daily_users_by_app ON daily_users (app_id);

CREATE TABLE audit_positions (
  position INTEGER PRIMARY KEY NOT NULL,
  event_id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE sign_in_requests (
  key TEXT PRIMARY KEY NOT NULL,
  user_id TEXT REFERENCES users (id),
  reason TEXT,
  verifier_hash BLOB NOT NULL CHECK (length(verifier_hash) = 32),
  service_key_id TEXT NOT NULL,
  decided_at INTEGER NOT NULL,
  completed_at INTEGER,
  CHECK ((user_id IS NULL) = (reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  address_holder_id TEXT REFERENCES users (id),
  ended_at INTEGER,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_user ON identities (user_id);
CREATE INDEX identities_by_address_holder ON identities (address_holder_id) WHERE address_holder_id IS NOT NULL;

CREATE TABLE totp_keys (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  key BLOB NOT NULL,
  last_step INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX totp_keys_live ON totp_keys (user_id) WHERE ended_at IS NULL;
CREATE INDEX totp_keys_by_user ON totp_keys (user_id);

CREATE TABLE recovery_codes (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_codes_by_user ON recovery_codes (user_id);

CREATE TABLE password_links (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  email TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX password_links_by_user ON password_links (user_id);

CREATE TABLE mails (
  id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  user_id TEXT REFERENCES users (id),
  address TEXT,
  state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'failed', 'dropped')),
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER,
  fault TEXT,
  created_at INTEGER NOT NULL,
  CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX mails_by_user ON mails (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE muted_mails (
  user_id TEXT NOT NULL REFERENCES users (id),
  topic TEXT NOT NULL,
  PRIMARY KEY (user_id, topic)
) STRICT, WITHOUT ROWID;

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  credential_id TEXT NOT NULL,
  public_key BLOB NOT NULL,
  counter INTEGER NOT NULL,
  challenge_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX passkeys_live ON passkeys (credential_id) WHERE ended_at IS NULL;
CREATE INDEX passkeys_by_user ON passkeys (user_id);

CREATE TABLE app_members (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'developer')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX app_members_live ON app_members (user_id, app_id) WHERE ended_at IS NULL;
CREATE INDEX app_members_by_app ON app_members (app_id);
CREATE INDEX app_members_by_user ON app_members (user_id);

CREATE TABLE app_invitations (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'publisher')),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  invited_by TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  mailed_hash BLOB CHECK (length(mailed_hash) = 32)
) STRICT, WITHOUT ROWID;
CREATE INDEX app_invitations_by_app ON app_invitations (app_id);
CREATE INDEX app_invitations_by_email ON app_invitations (email);
CREATE INDEX app_invitations_by_inviter ON app_invitations (invited_by);

CREATE TABLE staged_resources (
  import_key TEXT NOT NULL,
  line INTEGER NOT NULL,
  change TEXT NOT NULL CHECK (change IN ('create', 'move', 'update', 'none')),
  resource_id TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  external_id TEXT,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER,
  updated_at INTEGER,
  published_at INTEGER,
  new_created_at INTEGER NOT NULL,
  PRIMARY KEY (import_key, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE server_settings (
  name TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE watermarks (
  name TEXT PRIMARY KEY NOT NULL
    CHECK (name IN ('clock', 'restored', 'recovered', 'moved', 'sealed', 'backed_up', 'counted', 'imported', 'told', 'demo', 'migrated_from', 'migrated_to')),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
