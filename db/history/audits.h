// What `ablate audit` has found in data sets. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>

#include "db/types/records.h"

namespace ablate::db {

/// In place of what was known of the same task's data. Within the caller's transaction.
void put_audit(SQLite::Database& database, const Audit& audit);

/// Nothing, too, where what is stored cannot be read: a file may be of another program.
std::optional<Audit> find_audit(SQLite::Database& database, const std::string& digest, const std::string& task);

}  // namespace ablate::db
