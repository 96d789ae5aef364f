// What schema 12 does. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace ablate::db {

/// plugin.kind may be any text: which kinds there are is the SDK's to say.
void free_kinds(SQLite::Database& database);

}  // namespace ablate::db
