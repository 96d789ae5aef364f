// State of a running grid, as its history shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/types/watch_state.h"

namespace ablate::db {

/// Returns the experiments with running trials, in the order of their grids. A trial of several experiments counts for the
/// experiment with the latest grid. Ignores dead processes of this host; processes of other hosts cannot be checked.
std::vector<std::string> running_experiments(const Reader& reader);

/// Returns the experiment with the latest grid; "" if there is none.
std::string latest_experiment(const Reader& reader);

/// Throws Error with the nearest name if the experiment is not known. `now_us` is in microseconds since 1970, UTC.
WatchState watch_state(const Reader& reader, const std::string& experiment, std::int64_t now_us);

}  // namespace ablate::db
