// Conditions of --where, which select a table's trials. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/selection/selection.h"

namespace ablate::db {

/// Trials of a selection that meet the conditions.
struct Kept {
  std::vector<SelectedTrial> trials;  ///< trials that meet all conditions, in their order
  std::vector<std::string> notes;     ///< one note that names the conditions and counts the trials; no note without conditions
};

/// Keeps the trials that meet all conditions. A condition is PATH OPERATOR VALUE, "task=image":
///  - = and != take a value, several values ("softmax,local": any of them), or a closed range of numbers ("1/16..1/4");
///  - <, <=, > and >= take a number.
/// Numbers and rates are compared as numbers ("1/4" is 0.25), other values as the text that tables show. "-" is the value of a
/// trial without the parameter: it meets != with any other value, and never <, <=, > or >=. Throws Error with a line for each
/// invalid condition, unknown path or value, and order (<) of a parameter without numbers. Also throws if no trial is left.
Kept keep_where(const Reader& reader, std::vector<SelectedTrial> trials, const std::vector<std::string>& conditions);

/// Returns the path of a condition. Throws Error, "where TEXT: ...", if the text alone shows that it is no valid condition.
std::string condition_path(const std::string& text);

}  // namespace ablate::db
