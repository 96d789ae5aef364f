// The rows of a query in the format that was asked for. Internal to db/.
#pragma once

#include <sqlite3.h>

#include <memory>

#include "db/report/printers.h"

namespace ablate::db {

/// The rows of a statement on their way out.
class RowWriter {
 public:
  /// Writes what stands before the rows. Throws Error for a format that is none.
  RowWriter(sqlite3_stmt* row, Format format, const Write& write);

  /// The row that the statement is at.
  void put();
  void end() { printer_->end(); }

 private:
  sqlite3_stmt* row_;
  std::unique_ptr<RowPrinter> printer_;
};

}  // namespace ablate::db
