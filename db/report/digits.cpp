#include "db/report/digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/report/format.h"

namespace ablate::db {
namespace {

int magnitude(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)))); }

/// Returns the middle value, or the greater of two middle values.
template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool known(double value) { return std::isfinite(value) && value != 0; }

/// Returns the number of decimals that show `digits` significant digits of the uncertainty.
int decimals_of(const Measured& number) {
  const int digits = number.digits;
  auto at = magnitude(number.uncertainty);
  // 0.0996 with two digits is 0.10, which has one decimal fewer than 0.099.
  if (number.uncertainty >= (10 - 0.5 * std::pow(10.0, 1 - digits)) * std::pow(10.0, at)) ++at;
  return digits - 1 - at;
}

}  // namespace

Digits Digits::fixed(int decimals) {
  Digits digits(std::vector<Measured>{});
  digits.decimals_ = decimals;
  return digits;
}

Digits::Digits(const std::vector<Measured>& column) {
  constexpr int kMost = 8;
  std::vector<double> sizes;
  std::vector<int> coarseness;  // numbers of decimals, negated: median() takes the coarser of two middle values
  int least = 0;
  for (const auto& number : column) {
    if (known(number.uncertainty)) coarseness.push_back(-decimals_of(number));
    if (!known(number.value)) continue;
    sizes.push_back(std::abs(number.value));
    const int two = 1 - magnitude(number.value);
    least = std::max(least, known(number.uncertainty) ? std::min(two, decimals_of(number)) : two);
  }
  if (sizes.empty()) return;
  const int typical = coarseness.empty() ? 3 - magnitude(median(sizes)) : -median(coarseness);
  const int decimals = std::max(typical, least);
  if (decimals <= kMost && *std::max_element(sizes.begin(), sizes.end()) < 1e9) decimals_ = decimals;
}

std::string Digits::text(double value) const {
  return decimals_ && std::isfinite(value) ? fmt::format("{:.{}f}", value, *decimals_) : brief(value);
}

bool Digits::hide(double value) const {
  return std::isfinite(value) && text(value).find_first_of("123456789") == std::string::npos;
}

std::string Digits::text(double value, double deviation) const {
  if (!decimals_) return with_deviation(value, deviation);
  if (!std::isfinite(deviation)) return text(value);
  return fmt::format("{} ± {}", text(value), text(deviation));
}

}  // namespace ablate::db
