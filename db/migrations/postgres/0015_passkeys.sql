-- Passkeys (WebAuthn). A public key is no secret. Each challenge is used at most once: its time must be later than challenge_at, the
-- time of the last one that was accepted. An authenticator that counts must count upwards.
CREATE TABLE passkeys (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  credential_id text COLLATE "C" NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  challenge_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint,
  ended_at bigint
);
CREATE UNIQUE INDEX passkeys_live ON passkeys (credential_id) WHERE ended_at IS NULL;
CREATE INDEX passkeys_by_user ON passkeys (user_id);
