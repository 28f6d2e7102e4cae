-- Apps inside the builder: what an owner agreed to, one-time codes for the frame, and the sessions that they become.

-- The table is made anew, since an owner may now withdraw an install before anybody has decided on it.
-- environment: which version of the app opens, the live one or, for its developer's own test, the development head.
-- scopes: what the owner agreed to. Who installed before anybody asked gets what the live version has, and nothing more.
CREATE TABLE installs_anew (
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
INSERT INTO installs_anew
  SELECT i.id, i.app_id, i.user_id, i.resource_id, 'production', coalesce(v.scopes, ''), i.approval, i.state,
    i.created_at, i.updated_at
  FROM installs AS i LEFT JOIN versions AS v ON v.app_id = i.app_id AND v.status = 'active';
DROP TABLE installs;
ALTER TABLE installs_anew RENAME TO installs;
CREATE INDEX installs_by_app_and_user ON installs (app_id, user_id);
CREATE UNIQUE INDEX installs_open ON installs (app_id, resource_id) WHERE approval = 'pending' OR state = 'active';
CREATE INDEX installs_pending ON installs (id) WHERE approval = 'pending';
CREATE INDEX installs_by_app ON installs (app_id, id, approval, state);
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
