// What tells an attempt from all others, in whichever history it lies. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace ablate::db {

/// Of the attempts at one trial (alias a, or none) the latest first: by the time when each started, but behind those that stood
/// in its history already, whatever the clock said. In every history that has them the order is the same.
inline constexpr const char* kLatestFirst = "turn DESC, uid DESC";

/// Of a history from before schema 15, which has the columns, gives each attempt an id that is made of its content, so that two
/// copies of the history give the same ones, and its turn; then the indexes. Within the caller's transaction.
void give_global_ids(SQLite::Database& database);

}  // namespace ablate::db
