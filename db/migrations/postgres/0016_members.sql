-- Members of an app besides the account that it belongs to. A row ends when the person leaves, is removed or gets the app.
CREATE TABLE app_members (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'admin', 'developer')),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  ended_at bigint
);
CREATE UNIQUE INDEX app_members_live ON app_members (user_id, app_id) WHERE ended_at IS NULL;
CREATE INDEX app_members_by_app ON app_members (app_id);
CREATE INDEX app_members_by_user ON app_members (user_id);

-- Links with which a person becomes a member, or takes over an app. Each works once, for a day, for one email address.
CREATE TABLE app_invitations (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  email text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'publisher')),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  invited_by text COLLATE "C" NOT NULL REFERENCES users (id),
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint
);
CREATE INDEX app_invitations_by_app ON app_invitations (app_id);
CREATE INDEX app_invitations_by_email ON app_invitations (email);
CREATE INDEX app_invitations_by_inviter ON app_invitations (invited_by);
