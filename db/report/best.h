// Which means of a table are best.
#pragma once

#include <set>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// Marks the best means of each column among cells with the same tasks, where there are at least two such cells.
/// @param tasks what each of table.cells is a mean over
void mark_best(Table& table, const std::vector<std::set<std::size_t>>& tasks);

}  // namespace ablate::db
