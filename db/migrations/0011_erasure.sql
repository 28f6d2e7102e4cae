-- People who were erased, and the order in which events of the audit log became readable.

-- When everything personal of a user was removed. The row stays, because events and apps name its ID.
ALTER TABLE users ADD COLUMN erased_at INTEGER;

-- The place of an event in the order in which readers of the audit log got to see it. IDs of events are made before their
-- commit, so a reader who remembers an ID could miss one. Positions are given after it, by the first reader.
CREATE TABLE audit_positions (
  position INTEGER PRIMARY KEY NOT NULL,
  event_id TEXT NOT NULL UNIQUE
) STRICT;
