// The rows of a question, visited inside SQLite's own loop. Internal to db/.
#pragma once

#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace ablate::db {

/// A row, while it is visited.
class VisitedRow {
 public:
  explicit VisitedRow(sqlite3_value** values) : values_(values) {}
  std::int64_t integer(int column) const { return sqlite3_value_int64(values_[column]); }
  double number(int column) const { return sqlite3_value_double(values_[column]); }
  bool is_null(int column) const { return sqlite3_value_type(values_[column]) == SQLITE_NULL; }
  std::string text(int column) const { return std::string(view(column)); }
  std::string_view view(int column) const;  ///< until the row's visit ends

 private:
  sqlite3_value** values_;
};

using VisitRow = std::function<void(const VisitedRow&)>;

/// Makes RowVisits possible on a connection.
void allow_row_visits(SQLite::Database& database);

/// A question that may be asked several times. Out of SQLite's loop and into it again for each of a million rows is three times
/// as slow as all that is done with them: an aggregate function is called for each instead.
class RowVisits {
 public:
  /// @param columns what each row is to give: "trial, value" @param from the rest of a SELECT from its FROM on, with parameters
  /// ?1 to ?9 and no ORDER BY, for which SQLite would put each row together twice
  RowVisits(SQLite::Database& database, const std::string& columns, const std::string& from);
  /// @param values of ?1, ?2, ... @param visit may throw: then no more rows are visited. The rows of one table come in the
  /// order of its key, or of the index that the question names by INDEXED BY.
  void visit(std::initializer_list<std::int64_t> values, const VisitRow& visit);

 private:
  SQLite::Database& database_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_{nullptr, sqlite3_finalize};
};

}  // namespace ablate::db
