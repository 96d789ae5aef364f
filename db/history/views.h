// The documented views over the tables (docs/database.md). They are stored in the file for any program that uses SQLite. A
// transaction that adds a parameter or a metric also rewrites them, so they are never outdated. A change of a view's text needs
// a new migration, even an empty one, because every migration rewrites the views of existing files.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "db/history/prepared_statements.h"

namespace ablate::db {

struct View {
  std::string name;
  std::string about;  ///< one line
  std::vector<std::string> columns;
  std::string sql;  ///< the SELECT statement
};

/// Returns the views. The view `trials` has a column for each parameter and metric, at most kMostColumns in all; `parameters`
/// and `metrics` have the rest. A name that an earlier column has, ignoring case as SQL does, becomes "NAME (parameter)" or
/// "NAME (metric)".
std::vector<View> views(SQLite::Database& database);

/// Writes the views into the file, in place of the old ones. Within the caller's transaction.
void write_views(SQLite::Database& database);

/// Returns a state that changes whenever the columns of the views change.
std::pair<std::int64_t, std::int64_t> views_state(PreparedStatements& statements);

/// SQLite's limit for the columns of a result is 2000.
inline constexpr std::size_t kMostColumns = 1900;

/// Returns an identifier in SQL's quotes: attention.rates becomes "attention.rates".
std::string quoted(const std::string& identifier);

}  // namespace ablate::db
