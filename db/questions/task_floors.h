// Floors of what some trials were asked, as a table tells them. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/questions/asked_data.h"

namespace ablate::db {

/// What a predictor gets: the mean over data sets.
struct KnownFloor {
  std::string name, how;
  double value = 0;
  bool saw_all = true;  ///< examples that the rows train on
};

/// Floors of one test split, or of several that differ in the seeds of their data alone.
struct TaskFloors {
  std::string metric;
  std::int64_t examples = 0, train_size = 0, seen = 0;  ///< the fewest of the data sets
  std::vector<KnownFloor> all;
  std::set<std::string> left_out;  ///< predictors that had no time with one of the data sets
};

/// Nothing where those of a data set are not known, or are of another version.
/// @param asked at least one
std::optional<TaskFloors> task_floors(SQLite::Database& database, const std::vector<AskedData>& asked, std::int64_t version);

}  // namespace ablate::db
