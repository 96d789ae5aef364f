// What runs now: a grid's state from its history alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/types/watch_state.h"

namespace ablate::db {

/// The experiments whose trials run, by name in the order of their grids; of a trial of several experiments that one whose grid
/// was written last. A process of this host that is dead runs nothing; of another host's nobody here can tell.
std::vector<std::string> running_experiments(const Reader& reader);

/// The experiment whose grid was written last; "" where there is none.
std::string latest_experiment(const Reader& reader);

/// @param now_us microseconds since 1970, UTC. Throws Error as Reader::experiment.
WatchState watch_state(const Reader& reader, const std::string& experiment, std::int64_t now_us);

}  // namespace ablate::db
