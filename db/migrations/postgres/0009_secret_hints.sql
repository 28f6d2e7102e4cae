-- What tells two secrets of an app apart: the last four characters, and who made the secret.

-- They are digits of the checksum. So they say at most 24 bits about a secret that has 256 random ones.
ALTER TABLE credentials ADD COLUMN hint text COLLATE "C";
-- The kind of actor and its ID, with a space between.
ALTER TABLE credentials ADD COLUMN created_by text COLLATE "C";
