// Tables for people.
#pragma once

#include <string>

#include "db/report/format.h"
#include "db/types/table.h"

namespace ablate::db {

/// "85.31 ± 0.42", the best of a column marked * or bold, what is unsettled ~; with a baseline the ratio in its place; in a
/// column all numbers have the same decimals (db/report/digits.h). @param format text or Markdown
std::string table_text(const Table& table, Format format);

}  // namespace ablate::db
