// Membership of trials in experiments. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/records/role.h"

namespace ablate::db {

/// A trial of an experiment's latest grid.
struct ListedTrial {
  std::int64_t trial;
  std::optional<std::int64_t> cell;  ///< GridTrial::cell
  Role role = Role::kReported;       ///< GridTrial::role
};

/// Writes only changes, so that repeating a done grid writes nothing. Trials of earlier grids stay, after the listed trials.
/// @param latest in grid order; the first entry of a duplicate trial counts
void put_members(SQLite::Database& database, std::int64_t experiment, const std::vector<ListedTrial>& latest);

}  // namespace ablate::db
