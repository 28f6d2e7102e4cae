-- When the person of a session proved who they are at the sign-in. Null if another service knew them from before.
ALTER TABLE sessions ADD COLUMN asked_at bigint;
