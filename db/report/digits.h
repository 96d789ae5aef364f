// How many decimals a column of numbers deserves. Internal to db/.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ablate::db {

struct Measured {
  double value;
  double uncertainty = std::numeric_limits<double>::quiet_NaN();  ///< NaN or 0: unknown
  int digits = 2;  ///< significant digits of the uncertainty that are worth showing
};

/// All numbers of a column get the decimals that the typical (median) uncertainty allows; where no uncertainty is known, four
/// significant digits of the typical number. A small number gets more decimals until two of its digits show, as far as its own
/// uncertainty allows. Where numbers are too far apart or too small for that, each is written by itself (brief,
/// with_deviation).
class Digits {
 public:
  explicit Digits(const std::vector<Measured>& column);
  /// The same decimals for every number, whatever its uncertainty.
  static Digits fixed(int decimals);

  std::string text(double value) const;
  /// True if a value is finite and only zeros of it are shown.
  bool hide(double value) const;
  /// "85.31 ± 0.42"; the value alone where the deviation is NaN or 0.
  std::string text(double value, double deviation) const;

 private:
  std::optional<int> decimals_;
};

}  // namespace ablate::db
