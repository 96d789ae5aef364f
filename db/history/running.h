// What processes say that they are running. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <set>
#include <string>
#include <vector>

#include "db/types/records.h"

namespace ablate::db {

/// What this process runs now, in place of what it said before, and forgets what dead processes of this host did. Within the
/// caller's transaction.
void put_running(SQLite::Database& database, const std::vector<RunningTrial>& trials);

/// The other processes that say they are running trials of these keys, but for those of this host that are dead.
std::vector<OtherRun> others_running(SQLite::Database& database, const std::set<std::string>& keys);

}  // namespace ablate::db
