-- What the builder said about a browser that asked to sign in. user_id is null if it refused, and reason says why. The verifier
-- is in the address that the builder sends the browser to, so that nobody completes a request with an answer for somebody else.
CREATE TABLE sign_in_requests (
  key TEXT PRIMARY KEY NOT NULL,
  user_id TEXT REFERENCES users (id),
  reason TEXT,
  verifier_hash BLOB NOT NULL CHECK (length(verifier_hash) = 32),
  service_key_id TEXT NOT NULL,
  decided_at INTEGER NOT NULL,
  completed_at INTEGER,
  CHECK ((user_id IS NULL) = (reason IS NOT NULL))
) STRICT, WITHOUT ROWID;
