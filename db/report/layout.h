// A table laid out once: caption, header and rows of fields, before any format. Printers (db/report/printers.h) write them.
#pragma once

#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// What a field is.
enum class Role { kMark, kLabel, kNumber };

struct Field {
  Role role = Role::kLabel;
  std::string text = {};      ///< "85.31 ± 0.42 (n=3)"; as it came: a printer makes it one row
  bool best = false;          ///< of its column
  bool unsettled = false;     ///< a time of a busy machine
  std::string mark = {};      ///< "!" or "?": what the suite says of what stands behind it alone
  std::string failures = {};  ///< of trials that are not done; with no text all that there is
};

/// A header and rows, all as long as the header.
struct Block {
  std::string title;  ///< the metric, where each has a block of its own; "" where there is one block
  std::vector<Field> header;
  std::vector<std::vector<Field>> rows;
};

struct Layout {
  std::string caption;    ///< "quickstart: 12 trials; mean ± standard deviation of n = 3"
  bool any_best = false;  ///< a printer says how it marks them
  std::vector<Block> blocks;
  std::vector<std::string> notes;
};

/// In a column all numbers have the same decimals (db/report/digits.h); with a baseline ratios stand in the means' place.
Layout lay_out(const Table& table);

/// How a printer writes what is no plain text.
struct Emphasis {
  const char *best_before, *best_after;  ///< around the best of a column
  const char* unsettled;                 ///< before a time of a busy machine
};
/// "! ~85.31 ± 0.42 *, failed 1/3: out of memory".
std::string plain(const Field& field, const Emphasis& emphasis);

}  // namespace ablate::db
