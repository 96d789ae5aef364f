// Tables for programs: JSON.
#pragma once

#include <string>

#include "db/types/table.h"

namespace ablate::db {

/// {experiment, trials, rows, columns, metrics, baseline, cells, exponents, notes}; a cell's samples are [seed, value] each.
std::string table_json(const Table& table);

}  // namespace ablate::db
