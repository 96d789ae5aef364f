// A table's means against those of one of its rows or columns.
#pragma once

#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// Fills ratio, its uncertainty and published_ratio of all cells; a ratio to what is unsettled is. @param baseline
/// "path=value", all of which a row's, or a column's, label has: where several do, each line's is the one that agrees with it
/// in all other parameters. Throws Error: what is no row or column, or more than one of them, and which there are.
void add_ratios(Table& table, const std::vector<std::string>& baseline);

}  // namespace ablate::db
