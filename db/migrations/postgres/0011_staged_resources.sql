-- Lines of an import of websites and stores, until all of them are known to be right. An import that has ended leaves none.
CREATE TABLE staged_resources (
  import_key text COLLATE "C" NOT NULL,
  line bigint NOT NULL,
  new_id text COLLATE "C" NOT NULL,
  known_id text COLLATE "C",
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
CREATE INDEX staged_resources_known_id ON staged_resources (known_id) WHERE known_id IS NOT NULL;
