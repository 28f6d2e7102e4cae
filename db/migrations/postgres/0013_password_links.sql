-- Links with which a person sets a password: invitations and resets. Each works once, for a day.
CREATE TABLE password_links (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint
);
CREATE INDEX password_links_by_user ON password_links (user_id);
