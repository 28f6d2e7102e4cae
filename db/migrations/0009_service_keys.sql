-- Credentials of the builder itself, and the builder's own IDs of its users, websites and stores.

-- rights and networks are texts with one space between; no network means all. expires_at is the chosen end, or that of the
-- grace period of a rotation.
CREATE TABLE service_keys (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
  rights TEXT NOT NULL,
  networks TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  suspended_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

-- Null for everybody and everything that the builder did not send.
ALTER TABLE users ADD COLUMN external_id TEXT;
CREATE UNIQUE INDEX users_by_external_id ON users (external_id) WHERE external_id IS NOT NULL;
ALTER TABLE resources ADD COLUMN external_id TEXT;
CREATE UNIQUE INDEX resources_by_external_id ON resources (kind, external_id) WHERE external_id IS NOT NULL;
-- When the builder removed it. The row stays without its name, because installs and the audit log name its ID.
ALTER TABLE resources ADD COLUMN deleted_at INTEGER;
