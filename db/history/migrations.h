// How a file of each schema becomes one of the next. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace ablate::db {

/// The schema that all migrations lead to.
int schema_version();

/// From this schema to the next, within the caller's transaction. Append-only: what has been released is never edited.
/// @param version in [0, schema_version())
void migrate_from(int version, SQLite::Database& database);

}  // namespace ablate::db
