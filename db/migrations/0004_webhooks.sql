-- Endpoints of apps that are told what happens, what they are told, and how that went.

CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
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

-- The only secrets that are kept as they are: whoever signs needs them.
CREATE TABLE webhook_secrets (
  id TEXT PRIMARY KEY NOT NULL,
  endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id),
  secret BLOB NOT NULL CHECK (length(secret) = 32),
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_secrets_by_endpoint ON webhook_secrets (endpoint_id, id);
CREATE INDEX webhook_secrets_by_expiry ON webhook_secrets (expires_at) WHERE expires_at IS NOT NULL;

-- The outbox. Positions are the order of the commits.
CREATE TABLE webhook_events (
  position INTEGER PRIMARY KEY NOT NULL,
  id TEXT NOT NULL UNIQUE,
  app_id TEXT NOT NULL,
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  kind TEXT NOT NULL,
  body TEXT NOT NULL CHECK (length(body) < 20000),
  created_at INTEGER NOT NULL
) STRICT;

-- An event on its way to an endpoint. The endpoint may be gone: then nobody asks for it until it is purged.
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
  answer TEXT NOT NULL
) STRICT;
CREATE INDEX webhook_attempts_by_endpoint ON webhook_attempts (endpoint_id, id);
