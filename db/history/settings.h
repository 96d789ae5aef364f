// What rows share: the settings of trials that differ in their seeds alone, and the plugins of attempts. Each is in the file
// once, however many trials there are. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>
#include <string_view>

namespace ablate::db {

/// Adds a field to a content, so that none can pass for its neighbour.
void add_field(std::string& content, std::string_view field);

/// SQL for the id of the value that the trial `t` has at a path; NULL: it has none. @param path its id, as SQL
std::string value_at(const std::string& path);

/// The tables of schema 21.
inline constexpr const char* kSharedTables = R"sql(
-- All parameters of a trial but its seed. hash: of their paths, types and texts (TrialWriter).
CREATE TABLE setting (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE
) STRICT;
ALTER TABLE trial ADD COLUMN setting INTEGER REFERENCES setting;
ALTER TABLE trial ADD COLUMN seed INTEGER REFERENCES value;
CREATE TEMP TABLE old_parameter AS SELECT * FROM parameter;
DROP TABLE parameter;
CREATE TABLE parameter (
  path INTEGER NOT NULL REFERENCES path,
  setting INTEGER NOT NULL REFERENCES setting,
  value INTEGER NOT NULL REFERENCES value,
  PRIMARY KEY (path, setting)
) STRICT, WITHOUT ROWID;
-- The plugins that attempts used together, with what the conformance suite had said of each when they started. hash: of all that
-- (AttemptWriter).
CREATE TABLE plugin_set (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE
) STRICT;
ALTER TABLE attempt ADD COLUMN plugin_set INTEGER REFERENCES plugin_set;
CREATE TABLE plugin_of_set (
  plugin_set INTEGER NOT NULL REFERENCES plugin_set,
  plugin INTEGER NOT NULL REFERENCES plugin,
  verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed', 'unchecked')),
  failed_checks TEXT NOT NULL,
  PRIMARY KEY (plugin_set, plugin)
) STRICT, WITHOUT ROWID;
DROP INDEX attempt_by_outcome;
DROP INDEX attempt_by_trial;
)sql";

/// Fills them from those of before.
void share_settings(SQLite::Database& database);

}  // namespace ablate::db
