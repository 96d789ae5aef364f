// The order of labels that are numbers, rates, lists of them, or texts. Internal to db/.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ablate::db {

/// Compares numbers and rates by size, before texts; lists by their elements.
using LabelKey = std::vector<std::pair<double, std::string>>;

/// @param number the label's, where it is known to be one
LabelKey label_key(const std::string& label, std::optional<double> number = {});

}  // namespace ablate::db
