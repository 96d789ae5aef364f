// Tables for programs: CSV.
#pragma once

#include <string>

#include "db/types/table.h"

namespace ablate::db {

/// A table as CSV: one line a cell with mean, sd, n, the number of trials that failed, published, ratios and whether it is
/// unsettled, one an exponent, and no notes; a label of trials without the parameter is empty.
std::string table_csv(const Table& table);

}  // namespace ablate::db
