// Groups of trials with equal values of some parameters: the rows or the columns of a table. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/selection/selection.h"

namespace ablate::db {

/// The axes of some paths, and the combination of their values for each trial.
struct Groups {
  std::vector<const Axis*> axes;
  std::vector<std::vector<int>> keys;  ///< one value index per axis; -1: absent
  std::vector<std::size_t> of_trial;

  /// The axes must outlive this object. If `keep_order`, the groups are in the trials' order. Otherwise they are sorted by
  /// value: an absent parameter first, numbers by size before text, lists by elements.
  Groups(std::vector<const Axis*> by, std::size_t trials, bool keep_order);

  /// Returns one stored value per axis; null if the trials do not have the parameter.
  std::vector<nlohmann::ordered_json> values(std::size_t group) const;
  /// Returns the values as text; kAbsent for an absent parameter.
  std::vector<std::string> label(std::size_t group) const;

 private:
  const Axis::Value* value(std::size_t group, std::size_t axis) const;
  void sort();
};

}  // namespace ablate::db
