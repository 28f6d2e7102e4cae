-- The first schema. STRICT everywhere; WITHOUT ROWID where the key is time-ordered or small and is the only way in.

CREATE TABLE users (
  id TEXT PRIMARY KEY NOT NULL,
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  picture_url TEXT,
  password_hash TEXT NOT NULL,
  is_operator INTEGER NOT NULL CHECK (is_operator IN (0, 1)),
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  key TEXT PRIMARY KEY NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  address TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE TABLE apps (
  id TEXT PRIMARY KEY NOT NULL,
  owner_id TEXT NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
  scopes TEXT NOT NULL,
  development_version_id TEXT REFERENCES versions (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX apps_by_owner ON apps (owner_id);

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
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX credentials_by_client ON credentials (client_id);

CREATE TABLE redirect_uris (
  uri TEXT PRIMARY KEY NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (id),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX redirect_uris_by_client ON redirect_uris (client_id);

CREATE TABLE app_tokens (
  key TEXT PRIMARY KEY NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  credential_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  request_id TEXT NOT NULL,
  address TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  app_id TEXT NOT NULL REFERENCES apps (id),
  client_id TEXT NOT NULL REFERENCES clients (id),
  scopes TEXT NOT NULL,
  current_key TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  retry_key TEXT,
  retry_salt BLOB CHECK (length(retry_salt) = 32),
  retry_fingerprint BLOB CHECK (length(retry_fingerprint) = 32),
  retry_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_by_user ON grants (user_id);
CREATE INDEX grants_by_retry ON grants (retry_until) WHERE retry_until IS NOT NULL;

CREATE TABLE authorization_codes (
  key TEXT PRIMARY KEY NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  grant_id TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT NOT NULL CHECK (length(code_challenge) = 43),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE token_pairs (
  key TEXT PRIMARY KEY NOT NULL,
  grant_id TEXT NOT NULL,
  previous_key TEXT NOT NULL,
  access_hash BLOB NOT NULL CHECK (length(access_hash) = 32),
  refresh_hash BLOB NOT NULL CHECK (length(refresh_hash) = 32),
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  access_expires_at INTEGER NOT NULL,
  refresh_expires_at INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  address TEXT NOT NULL
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
  UNIQUE (owner_id, kind, slug)
) STRICT, WITHOUT ROWID;

CREATE TABLE installs (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  resource_id TEXT NOT NULL REFERENCES resources (id),
  approval TEXT NOT NULL CHECK (approval IN ('pending', 'approved', 'rejected')),
  state TEXT NOT NULL CHECK (state IN ('active', 'inactive')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK (state = 'inactive' OR approval = 'approved')
) STRICT, WITHOUT ROWID;
CREATE INDEX installs_by_app_and_user ON installs (app_id, user_id);
-- An app has at most one undecided or active install on a website or store.
CREATE UNIQUE INDEX installs_open ON installs (app_id, resource_id) WHERE approval = 'pending' OR state = 'active';

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
  activated_at INTEGER,
  UNIQUE (app_id, number),
  UNIQUE (app_id, version)
) STRICT;
-- What users get: at most one active version per app.
CREATE UNIQUE INDEX versions_active ON versions (app_id) WHERE status = 'active';
CREATE INDEX versions_by_artifact ON versions (artifact_sha256) WHERE artifact_sha256 IS NOT NULL;

CREATE TABLE rollbacks (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  from_version_id TEXT NOT NULL REFERENCES versions (id),
  to_version_id TEXT NOT NULL REFERENCES versions (id),
  reason TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rollbacks_by_app ON rollbacks (app_id);

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

CREATE TABLE watermarks (
  name TEXT PRIMARY KEY NOT NULL CHECK (name IN ('clock', 'restored')),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
