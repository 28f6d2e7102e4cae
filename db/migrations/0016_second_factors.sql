-- What people prove in addition to their password.

-- From when on a second factor is required of this person. It is set at the first sign-in that asks for one.
ALTER TABLE users ADD COLUMN factor_due_at INTEGER;

-- Authenticator apps (RFC 6238). The key is stored as it is, because the codes are computed from it; it is emptied when the row
-- ends. No code of last_step or of an earlier step is accepted again.
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

-- Codes for the day on which a factor is lost. Each ends when it is used or replaced.
CREATE TABLE recovery_codes (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_codes_by_user ON recovery_codes (user_id);
