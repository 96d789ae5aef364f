// An axis of a panel: which numbers it shows, where its ticks are, and where a number stands.
#pragma once

#include <limits>
#include <vector>

#include "db/types/figure.h"
#include "tools/plot/ticks.h"

namespace ablate {

/// The least and the greatest of some numbers; none: low is above high.
struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  /// What is not finite does not count.
  void take(double value);
  bool empty() const { return !(low <= high); }
};

class Scale {
 public:
  /// @param range what has to be seen; of names it does not count @param margin of its length, left free at both ends
  Scale(const db::FigureAxis& axis, Extent range, double margin);

  /// From 0 (the low end) to 1; nearly any number for what is not seen.
  double share(double value) const;
  /// At most so many of its numbers; of names, and of ticks that the figure chose, all that are seen.
  std::vector<Tick> ticks(int most) const;
  bool has_names() const { return !axis_.names.empty(); }

 private:
  const db::FigureAxis& axis_;
  double low_ = 0, high_ = 1;  ///< logarithms where it has them
};

}  // namespace ablate
