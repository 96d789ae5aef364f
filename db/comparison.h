// What a table says beyond its means: ratios to a baseline, and how a cost grows. Internal to db/.
#pragma once

#include "db/table.h"

namespace ablate::db {

/// Fills ratio and published_ratio of all cells. @param baseline "path=value", all of which a row's, or a column's, label has:
/// where several do, each line's is the one that agrees with it in all other parameters. Throws Error: what is no row or
/// column, or more than one of them, and which there are.
void add_ratios(Table& table, const std::vector<std::string>& baseline);

/// Fills table.exponents. Throws Error where the columns are not one path with at least two numbers above 0.
void add_exponents(Table& table);

}  // namespace ablate::db
