// Trials that processes report as running. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <set>
#include <string>
#include <vector>

#include "db/types/records.h"

namespace ablate::db {

/// Replaces this process's list of running trials, and removes lists of dead processes of this host. Within a transaction.
void put_running(SQLite::Database& database, const std::vector<RunningTrial>& trials);

/// Returns the other processes that report trials of these keys as running, except dead processes of this host.
std::vector<OtherRun> others_running(SQLite::Database& database, const std::set<std::string>& keys);

}  // namespace ablate::db
