-- What was sent to an endpoint and what it answered: as migration 8 of SQLite.
ALTER TABLE webhook_attempts ADD COLUMN url text COLLATE "C";
ALTER TABLE webhook_attempts ADD COLUMN sent_headers text COLLATE "C";
ALTER TABLE webhook_attempts ADD COLUMN answer_headers text COLLATE "C";
