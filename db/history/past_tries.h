// Outcomes of earlier attempts at trials. Internal to db/, except the function that takes a Reader.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/types/records.h"

namespace SQLite {
class Database;
}

namespace ablate::db {

class Reader;

/// Implements GridStore::tries.
std::map<std::string, PastTries> past_tries(SQLite::Database& database, const std::vector<std::string>& keys);
std::map<std::string, PastTries> past_tries(const Reader& reader, const std::vector<std::string>& keys);

}  // namespace ablate::db
