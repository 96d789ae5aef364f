// Rules: which points of a grid an exclude rule leaves out, or a published number belongs to.
#pragma once

#include <vector>

#include "core/host/study/point.h"

namespace ablate {

class Rules {
 public:
  /// Checks the rules' paths and values. @param what one of them, in an error's words: "exclude rule"
  Rules(const std::vector<Rule>& rules, std::string what, const Schema& schema, Diagnostics& diagnostics);

  /// The rules that the point matches, by index. A setting of the grid counts also where the point's plugin lacks the
  /// parameter, so that such combinations can be left out; a base value that does not apply, does not.
  std::vector<std::size_t> matching(const Point& point);

  /// A rule that never matched is a typing error.
  void report_unmatched(Diagnostics& diagnostics) const;

 private:
  bool matches(const Rule::Entry& entry, const Point& point) const;

  const std::vector<Rule>& rules_;
  std::string what_;
  const Schema& schema_;
  std::vector<bool> matched_, valid_;
};

}  // namespace ablate
