-- As step 10 of SQLite: counts for the dashboards, who was counted as an active user, and until when everything is counted.
CREATE TABLE hourly_counts (
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('development', 'production')),
  kind text COLLATE "C" NOT NULL
    CHECK (kind IN ('tokens', 'active_users', 'installs', 'webhook_successes', 'webhook_failures')),
  hour bigint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (app_id, hour, environment, kind)
);
CREATE INDEX hourly_counts_by_hour ON hourly_counts (hour);
CREATE INDEX hourly_counts_unmerged ON hourly_counts (hour) WHERE hour % 86400000 <> 0;

CREATE TABLE daily_users (
  day bigint NOT NULL,
  app_id text COLLATE "C" NOT NULL REFERENCES apps (id),
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('development', 'production')),
  user_id text COLLATE "C" NOT NULL REFERENCES users (id),
  hour bigint NOT NULL,
  PRIMARY KEY (day, app_id, environment, user_id)
);
CREATE INDEX daily_users_by_app ON daily_users (app_id);

ALTER TABLE watermarks DROP CONSTRAINT watermarks_name_check;
ALTER TABLE watermarks ADD CONSTRAINT watermarks_name_check
  CHECK (name IN ('clock', 'restored', 'recovered', 'moved', 'sealed', 'backed_up', 'counted'));
