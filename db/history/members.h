// Which trials an experiment has. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace ablate::db {

/// A trial of an experiment's latest grid.
struct ListedTrial {
  std::int64_t trial;
  std::optional<std::int64_t> cell;  ///< GridTrial::cell; tuning_cell() of it, where the trial tunes
};

/// Writes only what changed, so that repeating a grid that is done costs no write. Trials of earlier grids stay, behind these
/// and not listed.
/// @param latest in grid order; of a trial that stands twice the first counts
void put_members(SQLite::Database& database, std::int64_t experiment, const std::vector<ListedTrial>& latest);

}  // namespace ablate::db
