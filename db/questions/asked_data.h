// Which data, and how much of their test split, trials were asked. Internal to db/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/questions/cells.h"

namespace ablate::db {

/// What floors are kept by.
struct AskedData {
  std::string digest;   ///< of the data
  nlohmann::json task;  ///< its whole section
  std::int64_t rows = 0;
  std::int64_t trial = 0, experiment = 0;  ///< one that was asked, and as one of whose trials it was selected
  bool operator<(const AskedData& other) const {
    return std::tie(digest, rows) != std::tie(other.digest, other.rows)
               ? std::tie(digest, rows) < std::tie(other.digest, other.rows)
               : task < other.task;
  }
  bool operator==(const AskedData& other) const { return digest == other.digest && rows == other.rows && task == other.task; }
};

/// Of each of the cells' tasks (Cell::tasks) all that its trials with a number were asked: several where seeds of the data go
/// with those of the trials. Of trials whose keys' parts are not known nothing.
std::map<std::size_t, std::vector<AskedData>> asked_data(const TableTrials& from, const std::vector<Axis>& varying,
                                                         const Table& table);

}  // namespace ablate::db
