-- What pages for people need: forms that act only once, and sessions that a person can tell apart.

CREATE TABLE form_tickets (
  key TEXT PRIMARY KEY NOT NULL,
  spent_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE sessions ADD COLUMN agent TEXT;

-- The review queue: few at a time, however many versions there are.
CREATE INDEX versions_submitted ON versions (submitted_at) WHERE status = 'submitted';

-- What operators look at: versions that wait to go live, installs that wait to be decided, and who the operators are.
CREATE INDEX versions_approved ON versions (reviewed_at) WHERE status = 'approved';
CREATE INDEX installs_pending ON installs (id) WHERE approval = 'pending';
CREATE INDEX users_operators ON users (id) WHERE is_operator = 1;

-- What developers look at: the events of one kind in an app's trail, and an app's installs from the newest on.
CREATE INDEX audit_events_by_app_and_action ON audit_events (app_id, action, id) WHERE app_id IS NOT NULL;
CREATE INDEX installs_by_app ON installs (app_id, id, approval, state);
