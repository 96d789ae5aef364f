// Number of decimals that a column of numbers shows. Internal to db/.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ablate::db {

struct Measured {
  double value;
  double uncertainty = std::numeric_limits<double>::quiet_NaN();  ///< NaN or 0: unknown
  int digits = 2;                                                 ///< significant digits of the uncertainty that are shown
};

/// Number format of a column. All numbers get the decimals that the typical (median) uncertainty allows. If no uncertainty is
/// known, the typical number gets four significant digits. A small number gets more decimals until two of its digits show, but
/// no more than its uncertainty allows. Numbers too far apart or too small have separate formats (brief, with_deviation).
class Digits {
 public:
  explicit Digits(const std::vector<Measured>& column);
  /// Returns a format with the same decimals for every number, whatever its uncertainty.
  static Digits fixed(int decimals);

  std::string text(double value) const;
  /// True if a value is finite and its text shows only zeros.
  bool hide(double value) const;
  /// Returns "85.31 ± 0.42", or only the value if the deviation is not finite.
  std::string text(double value, double deviation) const;

 private:
  std::optional<int> decimals_;
};

}  // namespace ablate::db
