// What the comparisons of a table could tell: with the seeds that they have, and with more. No SQLite.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

struct PowerRows {
  std::vector<std::string> names;
  std::vector<std::vector<nlohmann::json>> rows;  ///< as long as names; null: not known
};

/// A row for each comparison of two settings by seed: seeds, the difference so far, the deviation of the paired differences,
/// the least difference that so many seeds tell (kPower of cases, at Holm's first level over the table's comparisons), and the
/// seeds that tell the difference looked for.
/// @param table one with `against` @param difference to be told, in the metric's unit; nothing: the one so far
PowerRows power_rows(const Table& table, std::optional<double> difference);

}  // namespace ablate::db
