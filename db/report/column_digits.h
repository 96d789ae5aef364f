// The decimals that the numbers of a table's column share. Internal to db/.
#pragma once

#include "db/report/digits.h"
#include "db/types/table.h"

namespace ablate::db {

struct ColumnDigits {
  ColumnDigits(const Table& table, std::size_t metric, std::size_t column);
  Digits measured, published;
};

}  // namespace ablate::db
