-- What servers that share a PostgreSQL database have beside the data. Times are by its clock, in epoch milliseconds.

-- The row that serial transactions lock: see `serialLockText` in postgres/dialect.ts.
CREATE TABLE locks (
  name text COLLATE "C" PRIMARY KEY NOT NULL
);
INSERT INTO locks (name) VALUES ('serial');

-- The number is part of the keys that a node makes; the rest is what it tells the others with its heartbeat.
CREATE TABLE nodes (
  number bigint PRIMARY KEY NOT NULL CHECK (number BETWEEN 0 AND 31),
  holder text COLLATE "C" NOT NULL,
  beat_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  clock_offset_ms bigint,
  settings text COLLATE "C" NOT NULL
);

-- Work that one node at a time does, and until when it may.
CREATE TABLE leases (
  name text COLLATE "C" PRIMARY KEY NOT NULL,
  holder text COLLATE "C" NOT NULL,
  held_until bigint NOT NULL
);

-- Timelines of the primary, when a node first met each, the first transaction ID used there, and when changes were found missing.
CREATE TABLE timelines (
  name text COLLATE "C" PRIMARY KEY NOT NULL,
  met_at bigint NOT NULL,
  first_transaction bigint,
  lost_at bigint
);
INSERT INTO timelines (name, met_at) VALUES (substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), 0);

-- Where these tables were made (postgres/recover.ts), and when their move to another database was planned.
CREATE TABLE origin (
  place text COLLATE "C" PRIMARY KEY NOT NULL,
  planned_at bigint
);
INSERT INTO origin (place, planned_at) VALUES ('', 0); -- the first start says where

-- What keys owe under a limit that all servers count together, in microseconds. Unlogged: it costs no sync, and is empty after a crash.
CREATE UNLOGGED TABLE shared_limits (
  policy text COLLATE "C" NOT NULL,
  set_number bigint NOT NULL,
  fingerprint bigint NOT NULL,
  owed_until bigint NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (policy, set_number, fingerprint)
);

-- Positions of webhook events, taken under a lock of the app in its environment.
CREATE SEQUENCE webhook_positions;
