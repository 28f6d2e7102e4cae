-- Passkeys (WebAuthn). A public key is no secret. Each challenge is used at most once: its time must be later than challenge_at, the
-- time of the last one that was accepted. An authenticator that counts must count upwards.
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
