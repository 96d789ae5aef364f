// What dev chooses of values that are named by number, before any of the chosen is reported: [grid.tune] seeds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ablate::db {

class Reader;

/// A trial that values are compared by.
struct TriedValue {
  std::int64_t cell = 0, value = 0;  ///< of the grid
  std::int64_t attempt = 0;          ///< the latest that is done; 0: none is
};

/// Returns for each cell the value that a table chooses (tuning.h); nothing if no value has all of its trials done.
/// @param tried in the grid's order
std::map<std::int64_t, std::optional<std::int64_t>> chosen_values(const Reader& reader, const std::vector<TriedValue>& tried);

}  // namespace ablate::db
