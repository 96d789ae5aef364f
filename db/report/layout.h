// Layout of a table, independent of any format: caption, headers and rows of fields. Printers (db/report/printers.h) write it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

enum class FieldRole { kMark, kLabel, kNumber };

struct Field {
  FieldRole role = FieldRole::kLabel;
  std::string text = {};          ///< "85.31 ± 0.42 (n=3)"; the printer makes it one row and escapes it
  bool best = false;              ///< best of its column, significantly better than the second
  bool second = false;            ///< second of its column, significantly better than the third
  std::string significance = {};  ///< result of the test: "*", "-", "≠" or "="
  bool unsettled = false;         ///< a time measured on a busy machine
  std::string mark = {};          ///< "!", "?" or ">": verdict on this field's plugins, if the row has no common mark
  std::string failures = {};      ///< trials that are not done; shown alone if text is ""
  /// Index in Table::cells of the cell that the number comes from.
  std::optional<std::size_t> cell = {};
};

/// A header and rows of its length.
struct Block {
  std::string title;  ///< the metric if each metric has its own block, else ""
  std::vector<Field> header;
  std::vector<std::vector<Field>> rows;
};

struct Layout {
  std::string caption;       ///< "quickstart: 12 trials; mean ± standard deviation of n = 3"
  bool own_caption = false;  ///< true if an author wrote the caption for the paper
  std::string label = {};    ///< Table::label
  bool any_best = false;     ///< true if a best or second field is marked; then the printer explains the marks
  std::vector<Block> blocks;
  std::vector<std::string> notes;
};

/// Lays a table out. All numbers of a column have the same decimals (db/report/digits.h).
Layout lay_out(const Table& table);
/// Returns the table with readable names (Table::names) in place of its labels, paths and metrics.
Table renamed(Table table);
/// Returns "failed 1/3: out of memory, missing 1/3"; "" if all trials are done.
std::string failure_text(const Cell& cell);

/// Marks that a printer puts on fields.
struct Emphasis {
  const char *best_before, *best_after;      ///< around the best of a column
  const char *second_before, *second_after;  ///< around the second
  const char* unsettled;                     ///< before a time measured on a busy machine
};
/// Returns "! ~85.31 ± 0.42 *, failed 1/3: out of memory". The emphasis surrounds only the number.
std::string plain(const Field& field, const Emphasis& emphasis);

/// A printed table contains the origin of its numbers, in comments or attributes. Returns the words of the command as a JSON
/// list, `["table", "quickstart"]`. The words are printable ASCII in one line, so that no name ends a comment. Returns "" if
/// the table has no request; the origin is then left out.
std::string request_text(const Table& table);

/// Returns the first digits of the keys of the cell's trials, separated by blanks. For more than 20 trials, returns their
/// number and a digest of all keys. Returns "" if the field has no cell or an empty cell.
std::string trials_text(const Table& table, const Field& field);

/// Returns the number of the column (from 1) and the trials of each cell of a row: "3 0a1b2c3d4e5f 1b2c3d4e5f6a; 4
/// 2c3d4e5f6a7b". Returns "-" if the row has no trials. A cell that fills several columns is listed at its first column.
std::string row_trials(const Table& table, const std::vector<Field>& row);

/// Text of a header row in place of the text of row_trials.
inline constexpr const char* kColumnsMark = "columns";

}  // namespace ablate::db
