// The row or column that other rows or columns of a table are compared with. Users name it by PATH=VALUE. No SQLite.
#pragma once

#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

struct ReferenceLines {
  bool by_row = true;           ///< true if rows are compared with rows
  std::vector<std::size_t> of;  ///< for each row (or column), the index of its reference; a reference has its own index
  std::string text;             ///< "attention=softmax attention.heads=2"

  /// True if all lines have the same reference.
  bool single() const;
  std::size_t index_of(const Table& table, std::size_t row, std::size_t metric, std::size_t column) const {
    return by_row ? table.index_of(of[row], metric, column) : table.index_of(row, metric, of[column]);
  }
};

/// Finds the reference of each line (row or column). If several labels meet the conditions, the reference is the label that
/// agrees with the line in all other parameters. Throws Error unless exactly one label remains; the message may suggest a name.
/// @param option "--baseline", for messages
/// @param conditions "path=value" that the label of a row, or of a column, must meet
ReferenceLines reference_lines(const std::string& option, const std::vector<std::string>& conditions, const Table& table);

/// Returns the index of the only row with these settings, "attention=adamra attention.rates=1/2". Throws Error if the text
/// names a column, no row, or several rows.
/// @param option "--contrasts", for messages
std::size_t row_named(const std::string& option, const std::string& row, const Table& table);

}  // namespace ablate::db
