-- All steps of the SQLite schema up to 7 (time_keys), in the types of PostgreSQL. Keys and cursors are compared byte by byte, so
-- every text has the collation "C".

-- What transactions lock so that they run one after the other: see `lockText` in postgres/dialect.ts.
CREATE TABLE locks (
  name text COLLATE "C" PRIMARY KEY NOT NULL
);
INSERT INTO locks (name) VALUES ('serial'), ('outbox');

-- Servers that share this database. The number is part of the keys that a node makes. `beat_at` is by the clock of PostgreSQL.
CREATE TABLE nodes (
  number bigint PRIMARY KEY NOT NULL CHECK (number BETWEEN 0 AND 31),
  holder text COLLATE "C" NOT NULL,
  beat_at bigint NOT NULL
);

-- Work that one node at a time does, and until when it may, by the clock of PostgreSQL.
CREATE TABLE leases (
  name text COLLATE "C" PRIMARY KEY NOT NULL,
  holder text COLLATE "C" NOT NULL,
  held_until bigint NOT NULL
);

-- Timelines of the primary, and when a node first met each. A promoted standby begins another one.
CREATE TABLE timelines (
  name text COLLATE "C" PRIMARY KEY NOT NULL,
  met_at bigint NOT NULL
);
INSERT INTO timelines (name, met_at) VALUES (substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), 0);

CREATE TABLE users (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  email text COLLATE "C" NOT NULL UNIQUE,
  name text COLLATE "C" NOT NULL,
  picture_url text COLLATE "C",
  password_hash text COLLATE "C" NOT NULL,
  is_operator bigint NOT NULL CHECK (is_operator IN (0, 1)),
  status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'disabled')),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  password_suspended_at bigint
);

CREATE TABLE sessions (
  key text COLLATE "C" PRIMARY KEY NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint,
  address text COLLATE "C" NOT NULL,
  agent text COLLATE "C",
  last_used_at bigint
);

CREATE TABLE devices (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  failures bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);

CREATE TABLE server_keys (
  name text COLLATE "C" PRIMARY KEY NOT NULL,
  key bytea NOT NULL CHECK (length(key) = 32),
  created_at bigint NOT NULL
);

CREATE TABLE form_tickets (
  key text COLLATE "C" PRIMARY KEY NOT NULL,
  spent_at bigint NOT NULL
);

CREATE TABLE apps (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  owner_id text COLLATE "C" NOT NULL REFERENCES users (id),
  name text COLLATE "C" NOT NULL,
  slug text COLLATE "C" NOT NULL UNIQUE,
  status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'suspended')),
  scopes text COLLATE "C" NOT NULL,
  development_version_id text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint
);

CREATE TABLE clients (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('development', 'production')),
  created_at bigint NOT NULL,
  UNIQUE (app_id, environment)
);

CREATE TABLE credentials (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  client_id text COLLATE "C" NOT NULL REFERENCES clients (id),
  secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
  label text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint,
  suspended_at bigint
);

CREATE TABLE redirect_uris (
  uri text COLLATE "C" PRIMARY KEY NOT NULL,
  client_id text COLLATE "C" NOT NULL REFERENCES clients (id),
  created_at bigint NOT NULL
);

CREATE TABLE app_tokens (
  key bigint PRIMARY KEY NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  credential_id text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  revoked_at bigint,
  request_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  uuid bytea CHECK (length(uuid) = 16)
);

CREATE TABLE moved_keys (
  uuid bytea PRIMARY KEY NOT NULL CHECK (length(uuid) = 16),
  key bigint NOT NULL
);

CREATE TABLE grants (
  key bigint PRIMARY KEY NOT NULL,
  id bytea NOT NULL CHECK (length(id) = 16),
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  client_id text COLLATE "C" NOT NULL REFERENCES clients (id),
  scopes text COLLATE "C" NOT NULL,
  current_key bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  revoked_at bigint,
  retry_key bigint,
  retry_salt bytea CHECK (length(retry_salt) = 32),
  retry_fingerprint bytea CHECK (length(retry_fingerprint) = 32),
  retry_until bigint
);

CREATE TABLE authorization_codes (
  key bigint PRIMARY KEY NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  grant_key bigint NOT NULL,
  redirect_uri text COLLATE "C" NOT NULL,
  code_challenge text COLLATE "C" NOT NULL CHECK (length(code_challenge) = 43),
  expires_at bigint NOT NULL
);

CREATE TABLE token_pairs (
  key bigint PRIMARY KEY NOT NULL,
  grant_key bigint NOT NULL,
  previous_key bigint NOT NULL,
  access_hash bytea NOT NULL CHECK (length(access_hash) = 32),
  refresh_hash bytea NOT NULL CHECK (length(refresh_hash) = 32),
  scopes text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  access_expires_at bigint NOT NULL,
  refresh_expires_at bigint NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  uuid bytea CHECK (length(uuid) = 16)
);

CREATE TABLE resources (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  owner_id text COLLATE "C" NOT NULL REFERENCES users (id),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('site', 'store')),
  name text COLLATE "C" NOT NULL,
  slug text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  published_at bigint,
  UNIQUE (owner_id, kind, slug)
);

CREATE TABLE installs (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  resource_id text COLLATE "C" NOT NULL REFERENCES resources (id),
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('development', 'production')),
  scopes text COLLATE "C" NOT NULL,
  approval text COLLATE "C" NOT NULL CHECK (approval IN ('pending', 'approved', 'rejected', 'withdrawn')),
  state text COLLATE "C" NOT NULL CHECK (state IN ('active', 'inactive')),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CHECK (state = 'inactive' OR approval = 'approved')
);

CREATE TABLE install_session_codes (
  key text COLLATE "C" PRIMARY KEY NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  install_id text COLLATE "C" NOT NULL,
  session_key text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  origin text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  spent_at bigint,
  gave_key text COLLATE "C",
  spent_from text COLLATE "C"
);

CREATE TABLE embedded_sessions (
  key text COLLATE "C" PRIMARY KEY NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  install_id text COLLATE "C" NOT NULL,
  session_key text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  origin text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint
);

CREATE TABLE artifacts (
  sha256 bytea PRIMARY KEY NOT NULL CHECK (length(sha256) = 32),
  size_bytes bigint NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE artifact_chunks (
  sha256 bytea NOT NULL,
  position bigint NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (sha256, position)
);

CREATE TABLE versions (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  number bigint NOT NULL,
  version text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('draft', 'submitted', 'approved', 'active', 'superseded', 'rejected')),
  revision bigint NOT NULL,
  notes text COLLATE "C",
  manifest text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  artifact_sha256 bytea REFERENCES artifacts (sha256),
  artifact_filename text COLLATE "C",
  artifact_size_bytes bigint,
  rejection text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  submitted_at bigint,
  reviewed_at bigint,
  activated_at bigint,
  UNIQUE (app_id, number),
  UNIQUE (app_id, version)
);

CREATE TABLE rollbacks (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('development', 'production')),
  from_version_id text COLLATE "C" NOT NULL REFERENCES versions (id),
  to_version_id text COLLATE "C" NOT NULL REFERENCES versions (id),
  reason text COLLATE "C",
  created_at bigint NOT NULL
);

CREATE TABLE idempotency_keys (
  principal text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  body_hash bytea NOT NULL CHECK (length(body_hash) = 32),
  outcome text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (principal, method, path, key)
);

CREATE TABLE audit_events (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  at bigint NOT NULL,
  actor_kind text COLLATE "C" NOT NULL CHECK (actor_kind IN ('app', 'user', 'operator', 'anonymous', 'system')),
  actor_id text COLLATE "C",
  app_id text COLLATE "C",
  environment text COLLATE "C" CHECK (environment IN ('development', 'production')),
  action text COLLATE "C" NOT NULL,
  target text COLLATE "C",
  outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('done', 'refused')),
  reason text COLLATE "C",
  detail text COLLATE "C",
  request_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL
);

CREATE TABLE webhook_endpoints (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('development', 'production')),
  url text COLLATE "C" NOT NULL,
  kinds text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('enabled', 'disabled')),
  reason text COLLATE "C" CHECK (reason IN ('by_hand', 'gone', 'failing')),
  failing_since bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CHECK ((status = 'disabled') = (reason IS NOT NULL))
);

CREATE TABLE webhook_secrets (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL REFERENCES webhook_endpoints (id),
  secret bytea NOT NULL CHECK (length(secret) = 32),
  created_at bigint NOT NULL,
  expires_at bigint
);

CREATE TABLE webhook_events (
  position bigint PRIMARY KEY NOT NULL,
  id text COLLATE "C" NOT NULL UNIQUE,
  app_id text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('development', 'production')),
  kind text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL CHECK (length(body) < 20000),
  created_at bigint NOT NULL
);

CREATE TABLE webhook_deliveries (
  position bigint NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts bigint NOT NULL,
  next_attempt_at bigint,
  PRIMARY KEY (position, endpoint_id),
  CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL))
);

CREATE TABLE webhook_attempts (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  duration_ms bigint NOT NULL,
  status bigint,
  error text COLLATE "C",
  answer text COLLATE "C" NOT NULL
);

CREATE TABLE carried_ends (
  kind text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  value text COLLATE "C",
  PRIMARY KEY (kind, target)
);

CREATE TABLE watermarks (
  name text COLLATE "C" PRIMARY KEY NOT NULL
    CHECK (name IN ('clock', 'restored', 'recovered', 'moved', 'sealed', 'backed_up')),
  at bigint NOT NULL
);

ALTER TABLE apps ADD CONSTRAINT apps_development_version_id_fkey
  FOREIGN KEY (development_version_id) REFERENCES versions (id);

CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX apps_by_owner ON apps (owner_id);
CREATE INDEX credentials_by_client ON credentials (client_id);
CREATE INDEX redirect_uris_by_client ON redirect_uris (client_id);
CREATE UNIQUE INDEX versions_active ON versions (app_id) WHERE status = 'active';
CREATE INDEX versions_by_artifact ON versions (artifact_sha256) WHERE artifact_sha256 IS NOT NULL;
CREATE INDEX rollbacks_by_app ON rollbacks (app_id);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
CREATE INDEX audit_events_by_app ON audit_events (app_id, id) WHERE app_id IS NOT NULL;
CREATE INDEX versions_submitted ON versions (submitted_at) WHERE status = 'submitted';
CREATE INDEX versions_approved ON versions (reviewed_at) WHERE status = 'approved';
CREATE INDEX users_operators ON users (id) WHERE is_operator = 1;
CREATE INDEX audit_events_by_app_and_action ON audit_events (app_id, action, id) WHERE app_id IS NOT NULL;
CREATE UNIQUE INDEX installs_open ON installs (app_id, resource_id) WHERE approval = 'pending' OR state = 'active';
CREATE INDEX installs_pending ON installs (id) WHERE approval = 'pending';
CREATE INDEX installs_by_app ON installs (app_id, id, approval, state);
CREATE INDEX installs_by_user ON installs (user_id, id);
CREATE INDEX install_session_codes_by_origin ON install_session_codes (origin);
CREATE INDEX webhook_endpoints_by_app ON webhook_endpoints (app_id, environment, id);
CREATE INDEX webhook_secrets_by_endpoint ON webhook_secrets (endpoint_id, id);
CREATE INDEX webhook_secrets_by_expiry ON webhook_secrets (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (endpoint_id, state, position);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_attempts_by_endpoint ON webhook_attempts (endpoint_id, id);
CREATE INDEX resources_listed
  ON resources (owner_id, kind, slug, name, status, created_at, updated_at, published_at);
CREATE INDEX installs_by_app_and_user ON installs (app_id, user_id, approval, state);
CREATE INDEX devices_by_user ON devices (user_id);
CREATE INDEX apps_deleted ON apps (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX audit_events_anonymous ON audit_events (id) WHERE actor_kind = 'anonymous';
CREATE INDEX versions_by_app_artifact ON versions (app_id, artifact_sha256, artifact_size_bytes, id)
  WHERE artifact_sha256 IS NOT NULL;
CREATE UNIQUE INDEX grants_by_id ON grants (id);
CREATE INDEX grants_by_user ON grants (user_id);
CREATE INDEX grants_by_retry ON grants (retry_until) WHERE retry_until IS NOT NULL;
CREATE INDEX grants_by_client ON grants (client_id);
