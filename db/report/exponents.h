// How a table's metrics grow with what its columns say.
#pragma once

#include "db/types/table.h"

namespace ablate::db {

/// Fills table.exponents. Throws Error where the columns are not one path with at least two numbers above 0.
void add_exponents(Table& table);

}  // namespace ablate::db
