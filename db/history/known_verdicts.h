// Latest verdicts of `ablate check` on plugins' code, from any machine. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <vector>

#include "db/types/records.h"

namespace ablate::db {

/// Stores verdicts. For each code, the latest verdict of the latest suite stays. Within the caller's transaction.
void put_verdicts(SQLite::Database& database, const std::vector<KnownVerdict>& verdicts);

std::optional<KnownVerdict> find_verdict(SQLite::Database& database, const UsedPlugin& plugin);

}  // namespace ablate::db
