-- What has ended in a database that was replaced by a backup which does not know of it. Another backup may: a restore of
-- that one ends it there. `target` is an ID, `at` is when it ended or is to end, `value` is what holds instead.

CREATE TABLE carried_ends (
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  at INTEGER NOT NULL,
  value TEXT,
  PRIMARY KEY (kind, target)
) STRICT, WITHOUT ROWID;

-- A list of resources, and whether an install is live, are read from the index alone: among a million tokens the page of
-- each row was one more that had to be fetched.
CREATE INDEX resources_listed
  ON resources (owner_id, kind, slug, name, status, created_at, updated_at, published_at);
DROP INDEX installs_by_app_and_user;
CREATE INDEX installs_by_app_and_user ON installs (app_id, user_id, approval, state);
