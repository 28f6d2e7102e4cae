-- A line of an import knows what it changes before the merge, so that only rows that change are touched in the merge. The table has
-- nothing but the lines of running imports.
DROP TABLE staged_resources;
CREATE TABLE staged_resources (
  import_key text COLLATE "C" NOT NULL,
  line bigint NOT NULL,
  change text COLLATE "C" NOT NULL CHECK (change IN ('create', 'move', 'update', 'none')),
  resource_id text COLLATE "C" NOT NULL,
  owner_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  external_id text COLLATE "C",
  name text COLLATE "C" NOT NULL,
  slug text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint,
  updated_at bigint,
  published_at bigint,
  new_created_at bigint NOT NULL,
  PRIMARY KEY (import_key, line)
);

-- Also finds the open installs on a resource.
DROP INDEX installs_open;
CREATE UNIQUE INDEX installs_open ON installs (resource_id, app_id) WHERE approval = 'pending' OR state = 'active';

-- Who was erased while an import ran.
CREATE INDEX users_erased ON users (erased_at) WHERE erased_at IS NOT NULL;

-- When an import last changed anything.
ALTER TABLE watermarks DROP CONSTRAINT watermarks_name_check;
ALTER TABLE watermarks ADD CONSTRAINT watermarks_name_check
  CHECK (name IN ('clock', 'restored', 'recovered', 'moved', 'sealed', 'backed_up', 'counted', 'imported'));
