// The exclude rules of a grid.
#pragma once

#include <vector>

#include "core/grid/point.h"

namespace ablate {

class Rules {
 public:
  /// Checks the rules' paths and values.
  Rules(const Draft& draft, const Schema& schema, Diagnostics& diagnostics);

  /// Whether a rule leaves the point out. A setting of the grid counts also where the point's plugin lacks the parameter, so
  /// that such combinations can be left out; a base value that does not apply, does not.
  bool exclude(const Point& point);

  /// A rule that never matched is a typing error.
  void report_unmatched(Diagnostics& diagnostics) const;

 private:
  bool matches(const Rule::Entry& entry, const Point& point) const;

  const Draft& draft_;
  const Schema& schema_;
  std::vector<bool> matched_, valid_;
};

}  // namespace ablate
