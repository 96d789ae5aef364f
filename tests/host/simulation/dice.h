// Random draws from a seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace ablate::simulation {

/// Draws that are equal on every machine, unlike draws of std's distributions.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : draw_(seed) {}

  /// Returns a number in [0, 1).
  double unit() { return static_cast<double>(draw_() >> 11) * 0x1p-53; }
  bool chance(double of) { return of > 0 && unit() < of; }
  double between(double least, double most) { return least + unit() * (most - least); }
  /// Returns a whole number in [least, most].
  int whole(int least, int most) { return least + static_cast<int>(unit() * (most - least + 1)); }
  /// Returns a number with a uniform logarithm: small numbers are as frequent as large numbers. `least` must be above 0.
  double of_any_size(double least, double most) { return least * std::pow(most / least, unit()); }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(whole(0, static_cast<int>(all.size()) - 1))];
  }

 private:
  std::mt19937_64 draw_;
};

}  // namespace ablate::simulation
