// An axis of a panel: which numbers it shows, where its ticks are, and where a number stands.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "db/types/figure.h"

namespace ablate {

struct Tick {
  double value = 0;
  std::string text;
};

/// Multiples of 1, 2 or 5 times a power of ten from low to high: at most `most`, or one more where there would be one alone.
/// All have the same decimals. @param low below high, both finite
std::vector<Tick> linear_ticks(double low, double high, int most);

/// Powers of ten from low to high, every one or every so many; where there are fewer than two, 1, 2 and 5 times powers of ten;
/// where there are fewer than two of those, as linear_ticks. @param low above 0
std::vector<Tick> log_ticks(double low, double high, int most);

/// A number alone: "256", "0.004", "2·10⁶".
std::string tick_text(double value);

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
