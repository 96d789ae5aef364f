// The table of floors. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace ablate::db {

/// Adds it: from schema 16 to 17.
void migrate_floors(SQLite::Database& database);

/// What of the training split floors are of becomes a part of their key: from schema 21 to 22.
void migrate_floor_rows(SQLite::Database& database);

}  // namespace ablate::db
