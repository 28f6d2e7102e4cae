-- The outbox: mails on their way. A mail is written in the transaction of what it is about, and made when it is sent, so no secret
-- stands here. The address is for a mail that does not go to the address of its user; it is removed once the mail needs none.
CREATE TABLE mails (
  id text COLLATE "C" PRIMARY KEY NOT NULL,
  kind text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" REFERENCES users (id),
  address text COLLATE "C",
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'sent', 'failed', 'dropped')),
  attempts bigint NOT NULL,
  next_attempt_at bigint,
  fault text COLLATE "C",
  created_at bigint NOT NULL,
  CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL))
);
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX mails_by_user ON mails (user_id) WHERE user_id IS NOT NULL;
