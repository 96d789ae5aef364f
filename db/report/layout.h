// A table's layout: caption, headers and rows of fields, before any format. Printers (db/report/printers.h) write it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// What a field is.
enum class Role { kMark, kLabel, kNumber };

struct Field {
  Role role = Role::kLabel;
  std::string text = {};      ///< "85.31 ± 0.42 (n=3)", not cleaned: a printer makes it one row
  bool best = false;          ///< the best of its column, told from the second
  bool second = false;        ///< the second, told from the third
  std::string told = {};      ///< "*", "-", "=": what a test says of it
  bool unsettled = false;     ///< a time that a busy machine measured
  std::string mark = {};      ///< "!", "?" or ">": the suite's verdict on this field's plugins alone
  std::string failures = {};  ///< of trials that are not done; the whole field where text is ""
  /// Of a number that is made of a cell's trials: the cell's place in Table::cells.
  std::optional<std::size_t> cell = {};
};

/// A header and rows of its length.
struct Block {
  std::string title;  ///< the metric, where each metric has its block; "" where there is one block
  std::vector<Field> header;
  std::vector<std::vector<Field>> rows;
};

struct Layout {
  std::string caption;       ///< "quickstart: 12 trials; mean ± standard deviation of n = 3"
  bool own_caption = false;  ///< an author wrote it: it belongs into the paper
  std::string label = {};    ///< Table::label
  bool any_best = false;     ///< the best or the second is marked: then a printer says how
  std::vector<Block> blocks;
  std::vector<std::string> notes;
};

/// All numbers of a column have the same decimals (db/report/digits.h).
Layout lay_out(const Table& table);
/// Returns the table with readable names (Table::names) in place of its labels, paths and metrics.
Table renamed(Table table);
/// Returns "failed 1/3: out of memory, missing 1/3"; "" if all trials are done.
std::string failure_text(const Cell& cell);

/// How a printer marks fields.
struct Emphasis {
  const char *best_before, *best_after;      ///< around the best of a column
  const char *second_before, *second_after;  ///< around the second
  const char* unsettled;                     ///< before a time that a busy machine measured
};
/// "! ~85.31 ± 0.42 *, failed 1/3: out of memory": emphasis is around the number alone.
std::string plain(const Field& field, const Emphasis& emphasis);

/// A printed table contains the origin of its numbers, in comments or attributes. Returns the words of the command as a JSON
/// list, `["table", "quickstart"]`. They are printable ASCII in one line, so that no name in them ends a comment. Returns "" if
/// the table has no request; the origin is then left out.
std::string request_text(const Table& table);

/// The trials of the cell that a field shows, by the first digits of their keys, with blanks between; of more than 20 how many,
/// and a digest of all. "" where the field is of no cell, or of an empty one.
std::string trials_text(const Table& table, const Field& field);

/// Of a row the trials of each cell, behind the number of its column, from 1: "3 0a1b2c3d4e5f 1b2c3d4e5f6a; 4 2c3d4e5f6a7b";
/// "-" where it has none. A cell that fills several columns stands at the first.
std::string row_trials(const Table& table, const std::vector<Field>& row);

/// In place of row_trials in a header.
inline constexpr const char* kColumnsMark = "columns";

}  // namespace ablate::db
