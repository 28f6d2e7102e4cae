-- Apps inside the builder: what an owner agreed to, one-time codes for the frame, and the sessions that they become.

-- Which version of the app opens: the live one, or for the developer's own test the development head.
ALTER TABLE installs ADD COLUMN environment TEXT NOT NULL DEFAULT 'production'
  CHECK (environment IN ('development', 'production'));
-- What was agreed to. Who installed before it was asked has had the live version, if there was one, and gets nothing more.
ALTER TABLE installs ADD COLUMN scopes TEXT NOT NULL DEFAULT '';
UPDATE installs SET scopes = coalesce(
  (SELECT v.scopes FROM versions AS v WHERE v.app_id = installs.app_id AND v.status = 'active'), '');
CREATE INDEX installs_by_user ON installs (user_id, id);

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
  spent_at INTEGER
) STRICT, WITHOUT ROWID;
-- Whether a page of this origin may ask at all: browsers ask that before they send a code or a token.
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
