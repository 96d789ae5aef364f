// The table of floors. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace ablate::db {

/// Adds it: from schema 16 to 17.
void migrate_floors(SQLite::Database& database);

}  // namespace ablate::db
