-- What keys owe under a limit that all servers count together. `set_number` and `fingerprint` are of a keyed hash of the key;
-- times are epoch microseconds of PostgreSQL. Unlogged: it costs no sync, and is empty after a crash or a failover.
CREATE UNLOGGED TABLE shared_limits (
  policy text COLLATE "C" NOT NULL,
  set_number bigint NOT NULL,
  fingerprint bigint NOT NULL,
  owed_until bigint NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (policy, set_number, fingerprint)
);

-- Positions of webhook events. They are taken under a lock of the app in its environment, and follow the order of its commits.
CREATE SEQUENCE webhook_positions;
SELECT setval('webhook_positions', coalesce((SELECT max(position) FROM webhook_events), 0) + 1, false);
DELETE FROM locks WHERE name = 'outbox';
