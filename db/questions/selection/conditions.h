// --where: which trials of a selection a table is made of. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/selection/selection.h"

namespace ablate::db {

/// What conditions left of a selection.
struct Kept {
  std::vector<SelectedTrial> trials;  ///< those for which all conditions hold, in their order
  std::vector<std::string> notes;     ///< one that names the conditions and how many trials meet them; none without conditions
};

/// A condition is PATH OPERATOR VALUE, "task=image":
///  - = and != take a value, several ("softmax,local": any of them), or a range of numbers with both ends ("1/16..1/4");
///  - <, <=, > and >= take a number.
/// Numbers and rates are compared as numbers ("1/4" is 0.25), all else as the text that tables show; "-" is the value of a
/// trial without the parameter, which meets != of any other value and no order. Throws Error with a line for each condition
/// that is none, whose path no trial has, that names a value which no trial has, or asks an order of a parameter without
/// numbers; and where no trial meets all of them.
Kept keep_where(const Reader& reader, std::vector<SelectedTrial> trials, const std::vector<std::string>& conditions);

/// Returns the path that a condition asks about. Throws Error, "where TEXT: ...", if the text alone shows that it is no
/// condition.
std::string condition_path(const std::string& text);

}  // namespace ablate::db
