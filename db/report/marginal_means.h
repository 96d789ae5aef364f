// The mean of each value of a parameter, over what its values share. Internal to db/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/types/effects.h"

namespace ablate::db {

/// True if a parameter is one of another's own: attention.rates of attention.
inline bool belongs(const std::string& path, const std::string& to) { return path.starts_with(to + "."); }

class GridLevels {
 public:
  struct Level {
    std::string text;
    nlohmann::ordered_json json;
  };
  /// @param settings a row each
  explicit GridLevels(const Table& settings);

  std::vector<std::vector<Level>> of;   ///< [parameter], in the order of the grid
  std::vector<std::vector<int>> place;  ///< [parameter][setting]; -1: absent

  /// Returns true for a parameter of the training with one value for each setting of the others. An imported study of tuned
  /// values has such parameters; for a tuned study in the history they get no rows at all.
  bool is_chosen(std::size_t parameter) const { return chosen_[parameter]; }
  /// Returns the other parameters, except those that belong to it.
  std::vector<std::size_t> others(std::size_t parameter) const;
  /// Returns the other parameters that its values are matched by.
  std::vector<std::size_t> matched_by(std::size_t parameter) const;

 private:
  std::vector<std::string> paths_;
  std::vector<bool> chosen_;
};

/// Fills everything of a parameter but its share. @param settings as effects_of has it @param levels of these settings @param
/// notes gets what the means leave out
Effects::Parameter marginal_means(const Table& settings, const GridLevels& levels, std::size_t metric, std::size_t parameter,
                                  std::vector<std::string>& notes);

}  // namespace ablate::db
