// Tables for programs. Internal to db/.
#pragma once

#include <string>

#include "db/questions/table.h"

namespace ablate::db {

std::string table_csv(const Table& table);
std::string table_json(const Table& table);

}  // namespace ablate::db
