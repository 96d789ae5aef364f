// Where numbers stand on an axis.
#pragma once

#include <string>
#include <vector>

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

}  // namespace ablate
