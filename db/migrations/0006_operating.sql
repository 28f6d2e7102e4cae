-- What operators and honest callers need: keys of the server, browsers that have signed in before, idle sessions, deleted
-- apps, secrets and passwords that wait for an operator's confirmation, and bounded audit logs.

-- Random keys that stay on the server. restore and recover replace them.
CREATE TABLE server_keys (
  name TEXT PRIMARY KEY NOT NULL,
  key BLOB NOT NULL CHECK (length(key) = 32),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Browsers in which a user has signed in before. failures counts the wrong passwords that came with their cookie.
CREATE TABLE devices (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  failures INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_by_user ON devices (user_id);

-- A session ends when it is not used; null: not since it began.
ALTER TABLE sessions ADD COLUMN last_used_at INTEGER;

-- A deleted app is suspended as well, so that every check of its status refuses it. Its rows are purged 7 days later.
ALTER TABLE apps ADD COLUMN deleted_at INTEGER;
CREATE INDEX apps_deleted ON apps (deleted_at) WHERE deleted_at IS NOT NULL;
-- All grants of one app are ended at once, and removed with it.
CREATE INDEX grants_by_client ON grants (client_id);

-- After a loss that was accepted: not valid until an operator confirms it.
ALTER TABLE credentials ADD COLUMN suspended_at INTEGER;
ALTER TABLE users ADD COLUMN password_suspended_at INTEGER;

-- Which embedded session a code gave, and to which address, so that a replay can end it.
ALTER TABLE install_session_codes ADD COLUMN gave_key TEXT;
ALTER TABLE install_session_codes ADD COLUMN spent_from TEXT;

-- The table is rebuilt, because its list of names was closed.
CREATE TABLE watermarks_anew (
  name TEXT PRIMARY KEY NOT NULL
    CHECK (name IN ('clock', 'restored', 'recovered', 'moved', 'sealed', 'backed_up')),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO watermarks_anew SELECT name, at FROM watermarks;
DROP TABLE watermarks;
ALTER TABLE watermarks_anew RENAME TO watermarks;

-- Refusals without a known caller are purged earlier than the rest of the audit log.
CREATE INDEX audit_events_anonymous ON audit_events (id) WHERE actor_kind = 'anonymous';

-- How much an app keeps: its artifacts with their sizes, without reading manifests.
CREATE INDEX versions_by_app_artifact ON versions (app_id, artifact_sha256, artifact_size_bytes, id)
  WHERE artifact_sha256 IS NOT NULL;
