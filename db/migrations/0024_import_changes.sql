-- A line of an import knows what it changes before the merge, so that only rows that change are touched in the merge. The table has
-- nothing but the lines of running imports.
DROP TABLE staged_resources;
CREATE TABLE staged_resources (
  import_key TEXT NOT NULL,
  line INTEGER NOT NULL,
  change TEXT NOT NULL CHECK (change IN ('create', 'move', 'update', 'none')),
  resource_id TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  external_id TEXT,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER,
  updated_at INTEGER,
  published_at INTEGER,
  new_created_at INTEGER NOT NULL,
  PRIMARY KEY (import_key, line)
) STRICT, WITHOUT ROWID;

-- Also finds the open installs on a resource.
DROP INDEX installs_open;
CREATE UNIQUE INDEX installs_open ON installs (resource_id, app_id) WHERE approval = 'pending' OR state = 'active';

-- Who was erased while an import ran.
CREATE INDEX users_erased ON users (erased_at) WHERE erased_at IS NOT NULL;

-- When an import last changed anything. The table is rebuilt, because its list of names was closed.
CREATE TABLE watermarks_anew (
  name TEXT PRIMARY KEY NOT NULL
    CHECK (name IN ('clock', 'restored', 'recovered', 'moved', 'sealed', 'backed_up', 'counted', 'imported')),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO watermarks_anew SELECT name, at FROM watermarks;
DROP TABLE watermarks;
ALTER TABLE watermarks_anew RENAME TO watermarks;
