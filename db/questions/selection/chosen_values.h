// Choice by dev among numbered values, for a [grid.tune] with separate seeds, before the reported trials run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ablate::db {

class Reader;

/// A trial that takes part in the comparison of values.
struct TriedValue {
  std::int64_t cell = 0, value = 0;  ///< numbers in the grid
  std::int64_t attempt = 0;          ///< latest done attempt; 0: none is done
  std::uint64_t seed = 0;
};

/// The choice in one cell.
struct ChosenValue {
  std::optional<std::int64_t> value;  ///< nullopt if no value has all of its trials done
  std::size_t seeds = 0;              ///< Contest::seeds
  bool is_fragile = false;            ///< Contest::is_fragile
  bool operator==(const ChosenValue&) const = default;
};

/// Returns for each cell the value that a table chooses (tuning.h).
/// @param tried in the grid's order
std::map<std::int64_t, ChosenValue> chosen_values(const Reader& reader, const std::vector<TriedValue>& tried);

}  // namespace ablate::db
