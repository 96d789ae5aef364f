// What a table says beyond its means: which is best, ratios to a baseline, and how a cost grows. Internal to db/.
#pragma once

#include <set>

#include "db/questions/table.h"

namespace ablate::db {

/// Marks the best means of each column among cells with the same tasks, where there are at least two such cells.
/// @param tasks what each of table.cells is a mean over
void mark_best(Table& table, const std::vector<std::set<std::size_t>>& tasks);

/// Fills ratio, its uncertainty and published_ratio of all cells; a ratio to what is unsettled is. @param baseline
/// "path=value", all of which a row's, or a column's, label has: where several do, each line's is the one that agrees with it
/// in all other parameters. Throws Error: what is no row or column, or more than one of them, and which there are.
void add_ratios(Table& table, const std::vector<std::string>& baseline);

/// Fills table.exponents. Throws Error where the columns are not one path with at least two numbers above 0.
void add_exponents(Table& table);

}  // namespace ablate::db
