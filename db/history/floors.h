// Scores of simple predictors on data sets. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>

#include "db/types/records.h"

namespace ablate::db {

/// Replaces the earlier floors of the same data, task and rows. Within the caller's transaction.
void put_floors(SQLite::Database& database, const KnownFloors& floors);

/// Returns floors for trials that train on these rows. Floors of fewer rows match if those rows cover the whole split. Returns
/// nullopt if there are no floors, or if another program wrote floors that cannot be read.
std::optional<KnownFloors> find_floors(SQLite::Database& database, const std::string& digest, const nlohmann::json& task,
                                       const ExampleRows& rows);

}  // namespace ablate::db
