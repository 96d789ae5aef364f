// The row or column that the others of a table are compared with, as a user names it: PATH=VALUE. No SQLite.
#pragma once

#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

struct ReferenceLines {
  bool by_row = true;           ///< whether rows are compared with rows
  std::vector<std::size_t> of;  ///< of each row (or column) the one that it is compared with; its own where it is one
  std::string text;             ///< "attention=softmax attention.heads=2"

  /// Whether all are compared with one.
  bool single() const;
  std::size_t index_of(const Table& table, std::size_t row, std::size_t metric, std::size_t column) const {
    return by_row ? table.index_of(of[row], metric, column) : table.index_of(row, metric, of[column]);
  }
};

/// @param option "--baseline", for messages @param conditions "path=value" that the label of a row, or of a column, meets.
/// Where several labels do, a line is compared with the one that agrees with it in all other parameters. Throws Error where no
/// line or several remain, with the nearest name.
ReferenceLines reference_lines(const std::string& option, const std::vector<std::string>& conditions, const Table& table);

}  // namespace ablate::db
