// A row named by its settings: "attention=adamra attention.rates=1/2".
#pragma once

#include <string>
#include <vector>

namespace ablate {

/// "attention=adamra", "attention.rates=1/2": a blank parts two conditions where a path and "=" stand behind it, for a value may
/// hold blanks.
std::vector<std::string> row_conditions(const std::string& row);

}  // namespace ablate
