-- What the builder said about a browser that asked to sign in. user_id is null if it refused, and reason says why. The verifier
-- is in the address that the builder sends the browser to, so that nobody completes a request with an answer for somebody else.
CREATE TABLE sign_in_requests (
  key text COLLATE "C" PRIMARY KEY NOT NULL,
  user_id text COLLATE "C" REFERENCES users (id),
  reason text COLLATE "C",
  verifier_hash bytea NOT NULL CHECK (length(verifier_hash) = 32),
  service_key_id text COLLATE "C" NOT NULL,
  decided_at bigint NOT NULL,
  completed_at bigint,
  CHECK ((user_id IS NULL) = (reason IS NOT NULL))
);
