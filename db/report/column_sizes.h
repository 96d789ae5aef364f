// The numbers of a table's columns, for what grows with them.
#pragma once

#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// Of each column its number; NaN: it is none. Throws Error where the columns are not one parameter with at least two numbers
/// above 0. @param asked who needs them, "--exponent"
std::vector<double> column_sizes(const Table& table, const std::string& asked);

}  // namespace ablate::db
