-- Counts for the dashboards: what was issued, installed and delivered, by app and hour.

-- hour is the epoch millisecond in which an hour begins; once a day is well over, its hours are merged into its first one.
CREATE TABLE hourly_counts (
  app_id TEXT NOT NULL REFERENCES apps (id),
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  kind TEXT NOT NULL
    CHECK (kind IN ('tokens', 'active_users', 'installs', 'webhook_successes', 'webhook_failures')),
  hour INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (app_id, hour, environment, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX hourly_counts_by_hour ON hourly_counts (hour);
CREATE INDEX hourly_counts_unmerged ON hourly_counts (hour) WHERE hour % 86400000 <> 0;

-- Who was counted as an active user on a day, and in which of its hours first, so that nobody counts twice.
CREATE TABLE daily_users (
  day INTEGER NOT NULL,
  app_id TEXT NOT NULL REFERENCES apps (id),
  environment TEXT NOT NULL CHECK (environment IN ('development', 'production')),
  user_id TEXT NOT NULL REFERENCES users (id),
  hour INTEGER NOT NULL,
  PRIMARY KEY (day, app_id, environment, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX daily_users_by_app ON daily_users (app_id);

-- The table is rebuilt, because its list of names was closed.
CREATE TABLE watermarks_anew (
  name TEXT PRIMARY KEY NOT NULL
    CHECK (name IN ('clock', 'restored', 'recovered', 'moved', 'sealed', 'backed_up', 'counted')),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO watermarks_anew SELECT name, at FROM watermarks;
DROP TABLE watermarks;
ALTER TABLE watermarks_anew RENAME TO watermarks;
