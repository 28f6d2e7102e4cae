-- What a server tells the others with its heartbeat: see `postgres/pulse.ts`. `settings` is a digest for each setting that must
-- agree. Times are by the clock of PostgreSQL.
ALTER TABLE nodes
  ADD COLUMN name text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN version text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN started_at bigint NOT NULL DEFAULT 0,
  ADD COLUMN clock_offset_ms bigint,
  ADD COLUMN settings text COLLATE "C" NOT NULL DEFAULT '{}';
ALTER TABLE nodes
  ALTER COLUMN name DROP DEFAULT,
  ALTER COLUMN version DROP DEFAULT,
  ALTER COLUMN started_at DROP DEFAULT,
  ALTER COLUMN settings DROP DEFAULT;

-- The first transaction ID that a server used on the timeline, and when one found that acknowledged changes are missing there.
ALTER TABLE timelines ADD COLUMN first_transaction bigint, ADD COLUMN lost_at bigint;
