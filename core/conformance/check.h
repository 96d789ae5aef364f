// The conformance suite: one check of one plugin, and what came of it.
#pragma once

#include <string>
#include <vector>

namespace ablate {

struct Check {
  std::string name;  ///< "padding", "gradient", ...
  std::string on;    ///< shapes and parameters: "[2, 7, 16] float64, heads 2"
  bool passed = false;
  std::string found;     ///< what was seen, with the numbers; a reason where it failed
  double error = 0;      ///< how far off: largest absolute difference, where the check measures one
  double tolerance = 0;  ///< the largest error that passes
};

}  // namespace ablate
