// What predictors of a few lines get on data sets. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>

#include "db/types/records.h"

namespace ablate::db {

/// In place of what was known of the same data, task and rows. Within the caller's transaction.
void put_floors(SQLite::Database& database, const KnownFloors& floors);

/// Of what trials of these rows train on: also those of fewer that are the whole split. Nothing, too, where what is stored
/// cannot be read: a file may be of another program.
std::optional<KnownFloors> find_floors(SQLite::Database& database, const std::string& digest, const nlohmann::json& task,
                                       const ExampleRows& rows);

}  // namespace ablate::db
