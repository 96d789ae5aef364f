// An axis of a panel: its range, its ticks, and the positions of its numbers.
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

/// Returns the multiples, from low to high, of a step that is 1, 2 or 5 times a power of ten: at most `most` ticks, or at most
/// 2 if `most` is less. If fewer than two ticks result, a finer step is used, unless it gives more than `most` + 1 ticks. All
/// texts except "0" have the same precision. low is below high, and both are finite.
std::vector<Tick> linear_ticks(double low, double high, int most);

/// Returns the powers of ten from low to high, or every nth of them if there are too many. If there are fewer than two, returns
/// 1, 2 and 5 times powers of ten. If there are fewer than two of these as well, returns linear_ticks(). low is above 0.
std::vector<Tick> log_ticks(double low, double high, int most);

/// Returns the text of a single number: "256", "0.004", "2·10⁶".
std::string tick_text(double value);

/// The least and the greatest of some numbers; without numbers, low is above high.
struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  /// Adds a number. Numbers that are not finite do not count.
  void take(double value);
  bool empty() const { return !(low <= high); }
};

class Scale {
 public:
  /// @param range values to show; ignored for names
  /// @param margin share of the range's length that stays free at each end
  Scale(const db::FigureAxis& axis, Extent range, double margin);

  /// Maps the low end to 0 and the high end to 1. Values outside the axis give numbers below 0 or above 1.
  double share(double value) const;
  /// Returns a tick for each name if the axis has names. Otherwise returns the figure's ticks in the axis's range. If none
  /// is in this range, returns linear_ticks() or log_ticks(), which `most` limits.
  std::vector<Tick> ticks(int most) const;
  bool has_names() const { return !axis_.names.empty(); }

 private:
  const db::FigureAxis& axis_;
  double low_ = 0, high_ = 1;  ///< logarithms if the axis is logarithmic
};

}  // namespace ablate
