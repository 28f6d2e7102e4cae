-- Lines of an import of websites and stores, until all of them are known to be right. An import that has ended leaves none.
CREATE TABLE staged_resources (
  import_key TEXT NOT NULL,
  line INTEGER NOT NULL,
  new_id TEXT NOT NULL,
  known_id TEXT,
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
CREATE INDEX staged_resources_known_id ON staged_resources (known_id) WHERE known_id IS NOT NULL;
