// The rows of a query in the format that was asked for. Internal to db/.
#pragma once

#include <sqlite3.h>

#include <functional>
#include <string>
#include <vector>

#include "db/questions/query.h"

namespace ablate::db {

/// The rows of a statement on their way out: one by one, or, where columns are aligned, all at the end.
class RowWriter {
 public:
  /// Writes what stands before the rows. Throws Error for a format that is none.
  RowWriter(sqlite3_stmt* row, Format format, const Write& write);

  /// The row that the statement is at.
  void put();
  void end();

 private:
  std::vector<std::string> fields(const std::function<std::string(double)>& number) const;
  std::string object();

  sqlite3_stmt* row_;
  const int columns_;
  const Format format_;
  const Write& write_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;  ///< of text and Markdown
  bool any_ = false;
};

}  // namespace ablate::db
