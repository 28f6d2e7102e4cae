-- Members of an app besides the account that it belongs to. A row ends when the person leaves, is removed or gets the app.
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

-- Links with which a person becomes a member, or takes over an app. Each works once, for a day, for one email address.
CREATE TABLE app_invitations (
  id TEXT PRIMARY KEY NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'publisher')),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  invited_by TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX app_invitations_by_app ON app_invitations (app_id);
CREATE INDEX app_invitations_by_email ON app_invitations (email);
CREATE INDEX app_invitations_by_inviter ON app_invitations (invited_by);
