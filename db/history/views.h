// The documented views (docs/database.md) over the tables. They lie in the file, for any program that speaks SQLite; whoever
// adds a parameter or a metric writes them anew in the same transaction, so that they never lag. A change of a view's text
// needs a migration of its own, which may be empty: files get the new views with it.
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
  std::string sql;  ///< the SELECT
};

/// trials has a column for each parameter and metric, at most kMostColumns in all: what is beyond is in parameters and metrics.
/// One whose name an earlier column has (SQL does not tell upper case from lower) is called "NAME (parameter)" or "NAME
/// (metric)".
std::vector<View> views(SQLite::Database& database);

/// Writes them into the file, in place of those it has. Within the caller's transaction.
void write_views(SQLite::Database& database);

/// Changes whenever the columns of the views do.
std::pair<std::int64_t, std::int64_t> views_state(PreparedStatements& statements);

/// SQLite refuses more than 2000 columns of a result.
inline constexpr std::size_t kMostColumns = 1900;

/// "attention.rates" with SQL's quotes.
std::string quoted(const std::string& identifier);

}  // namespace ablate::db
