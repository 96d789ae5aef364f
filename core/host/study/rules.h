// Rules of a grid: which points an exclude rule leaves out, and to which points a published number belongs.
#pragma once

#include <vector>

#include "core/host/study/point.h"

namespace ablate {

class Rules {
 public:
  /// Checks the rules' paths and values. Errors call a rule by the name `what`: "exclude rule".
  Rules(const std::vector<Rule>& rules, std::string what, const Schema& schema, Diagnostics& diagnostics);

  /// Returns the indexes of the rules that the point matches. A setting of the grid also counts if the point's plugin lacks the
  /// parameter, so that a rule can leave out such combinations. A base value is ignored if the plugin lacks the parameter.
  std::vector<std::size_t> matching(const Point& point);

  /// Reports rules that never matched, because they are probably typing errors.
  void report_unmatched(Diagnostics& diagnostics) const;

 private:
  bool matches(const Rule::Entry& entry, const Point& point) const;

  const std::vector<Rule>& rules_;
  std::string what_;
  const Schema& schema_;
  std::vector<bool> matched_, valid_;
};

}  // namespace ablate
