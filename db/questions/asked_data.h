// Which data, and how much of their splits, trials trained on and were asked. Internal to db/.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/records/example_rows.h"
#include "db/questions/cells.h"

namespace ablate::db {

/// What floors are kept by.
struct AskedData {
  std::string digest;   ///< of the data
  nlohmann::json task;  ///< its whole section
  ExampleRows rows;
  std::int64_t trial = 0, experiment = 0;  ///< one that was asked, and as one of whose trials it was selected
  bool is_imported = false;                ///< the trial
  bool operator<(const AskedData& other) const {
    return std::tie(digest, rows) != std::tie(other.digest, other.rows)
               ? std::tie(digest, rows) < std::tie(other.digest, other.rows)
               : task < other.task;
  }
  bool operator==(const AskedData& other) const { return digest == other.digest && rows == other.rows && task == other.task; }
};

/// Cells whose trials with a number were asked the same, and trained on as many examples, of one split or of several where
/// seeds of the data go with those of the trials.
struct AskedCells {
  std::vector<std::vector<AskedData>> groups;
  std::vector<std::optional<std::size_t>> of_cell;  ///< by row, then column; nothing: of several, or not known
};

/// Of trials whose keys' parts are not known nothing.
AskedCells asked_data(const TableTrials& from, const std::vector<Axis>& varying, const Table& table);

}  // namespace ablate::db
