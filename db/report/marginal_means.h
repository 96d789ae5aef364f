// The mean of each value of a parameter, over what its values share. Internal to db/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/types/effects.h"

namespace ablate::db {

/// The settings' values, by parameter.
struct GridLevels {
  struct Level {
    std::string text;
    nlohmann::ordered_json json;
  };
  /// @param settings a row each
  explicit GridLevels(const Table& settings);

  std::vector<std::vector<Level>> of;   ///< [parameter], in the order of the grid
  std::vector<std::vector<int>> place;  ///< [parameter][setting]; -1: absent
  /// [parameter]: true for one of the training with one value for each setting of the others. An imported study of tuned
  /// values has such parameters; for a tuned study in the history they get no rows at all.
  std::vector<bool> is_chosen;
  std::vector<std::vector<std::size_t>> others;  ///< [parameter]: the other parameters, except those that belong to it
};

/// Returns the number of trials of a setting that have no finite number.
int without_number(const Cell& cell);

/// Fills everything of a parameter but its share. @param settings as effects_of has it @param levels of these settings @param
/// notes gets what the means leave out
Effects::Parameter marginal_means(const Table& settings, const GridLevels& levels, std::size_t metric, std::size_t parameter,
                                  std::vector<std::string>& notes);

}  // namespace ablate::db
