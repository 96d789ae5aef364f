// A table in any format.
#pragma once

#include <string>

#include "db/report/format.h"
#include "db/types/table.h"

namespace ablate::db {

/// As table_text, table_csv and table_json have it.
std::string to_text(const Table& table, Format format);

}  // namespace ablate::db
