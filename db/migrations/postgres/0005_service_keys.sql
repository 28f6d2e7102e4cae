-- Credentials of the builder itself, and the builder's own IDs of its users, websites and stores.

-- rights and networks are texts with one space between; no network means all. expires_at is the chosen end, or that of the
-- grace period of a rotation.
CREATE TABLE service_keys (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  name text COLLATE "C" NOT NULL,
  secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
  rights text COLLATE "C" NOT NULL,
  networks text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  suspended_at bigint,
  last_used_at bigint
);

-- Null for everybody and everything that the builder did not send.
ALTER TABLE users ADD COLUMN external_id text COLLATE "C";
CREATE UNIQUE INDEX users_by_external_id ON users (external_id) WHERE external_id IS NOT NULL;
ALTER TABLE resources ADD COLUMN external_id text COLLATE "C";
CREATE UNIQUE INDEX resources_by_external_id ON resources (kind, external_id) WHERE external_id IS NOT NULL;
-- When the builder removed it. The row stays without its name, because installs and the audit log name its ID.
ALTER TABLE resources ADD COLUMN deleted_at bigint;
