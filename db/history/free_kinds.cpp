#include "db/history/free_kinds.h"

namespace ablate::db {

/// SQLite takes a constraint away with its table alone. Both tables are made anew, the one that refers to the other is dropped
/// first: a rename would have to understand all views.
void free_kinds(SQLite::Database& database) {
  database.exec(R"sql(
CREATE TEMP TABLE old_plugin AS SELECT * FROM plugin;
CREATE TEMP TABLE old_use AS SELECT * FROM attempt_plugin;
DROP TABLE attempt_plugin;
DROP TABLE plugin;
CREATE TABLE plugin (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (kind, name, version, code_identity, content_hash, path)
) STRICT;
CREATE TABLE attempt_plugin (
  attempt INTEGER NOT NULL REFERENCES attempt,
  plugin INTEGER NOT NULL REFERENCES plugin,
  verdict TEXT NOT NULL DEFAULT 'unchecked' CHECK (verdict IN ('passed', 'failed', 'unchecked')),
  failed_checks TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (attempt, plugin)
) STRICT, WITHOUT ROWID;
INSERT INTO plugin (id, kind, name, version, code_identity, content_hash, path)
  SELECT id, kind, name, version, code_identity, content_hash, path FROM old_plugin;
INSERT INTO attempt_plugin (attempt, plugin, verdict, failed_checks)
  SELECT attempt, plugin, verdict, failed_checks FROM old_use;
DROP TABLE old_plugin;
DROP TABLE old_use;
)sql");
}

}  // namespace ablate::db
