// Findings of `ablate audit` in data sets. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>

#include "db/types/records.h"

namespace ablate::db {

/// Replaces the earlier audit of the same task's data. Within the caller's transaction.
void put_audit(SQLite::Database& database, const Audit& audit);

/// Returns nullopt if there is no audit, or if another program wrote one that cannot be read.
std::optional<Audit> find_audit(SQLite::Database& database, const std::string& digest, const std::string& task);

}  // namespace ablate::db
