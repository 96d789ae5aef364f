// The documented views (docs/database.md) that `ablate query` offers over the tables. They are temporary: a parameter or a
// metric that a later run brings is a column at once, and no migration ever rewrites a view.
#pragma once

#include <string>
#include <vector>

#include "db/reader.h"

namespace ablate::db {

struct View {
  std::string name;
  std::string about;  ///< one line
  std::vector<std::string> columns;
  std::string sql;  ///< the SELECT
};

/// runs has a column for each parameter and metric, at most kMostColumns in all: what is beyond is in parameters and metrics.
std::vector<View> views(const Reader& reader);

/// SQLite refuses more than 2000 columns of a result.
inline constexpr std::size_t kMostColumns = 1900;

/// "attention.rates" with SQL's quotes.
std::string quoted(const std::string& identifier);

}  // namespace ablate::db
