-- What was sent to an endpoint and what it answered, for its owner: where to, and the headers of both as JSON. The body that
-- was sent is that of the event. All of it is null for an attempt of an earlier release.

ALTER TABLE webhook_attempts ADD COLUMN url TEXT;
ALTER TABLE webhook_attempts ADD COLUMN sent_headers TEXT;
ALTER TABLE webhook_attempts ADD COLUMN answer_headers TEXT;
