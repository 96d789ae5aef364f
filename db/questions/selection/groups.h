// Trials by the values that they have of some parameters: the rows, or the columns, of a table. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/selection/selection.h"

namespace ablate::db {

/// The axes of some paths, and which distinct combination of their values each trial has.
struct Groups {
  std::vector<const Axis*> axes;
  std::vector<std::vector<int>> keys;  ///< one value index an axis; -1: absent
  std::vector<std::size_t> of_trial;

  /// @param keep_order in the trials' order; else by value: numbers before text, by size, lists by their elements, and a
  /// parameter that is absent first. The axes must outlive this.
  Groups(std::vector<const Axis*> by, std::size_t trials, bool keep_order);

  /// A value an axis, as it is stored; null where the trials have no such parameter.
  std::vector<nlohmann::ordered_json> values(std::size_t group) const;
  /// The same as text; kAbsent where it is absent.
  std::vector<std::string> label(std::size_t group) const;

 private:
  const Axis::Value* value(std::size_t group, std::size_t axis) const;
  void sort();
};

}  // namespace ablate::db
