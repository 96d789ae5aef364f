// How many decimals a column of numbers deserves. Internal to db/.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ablate::db {

struct Measured {
  double value;
  double uncertainty = std::numeric_limits<double>::quiet_NaN();  ///< NaN or 0: not known
  int digits = 2;  ///< significant digits of the uncertainty that are worth showing
};

/// All numbers of a column get the decimals that the typical (median) uncertainty allows; where none is known, four significant
/// digits of the typical number. Small numbers get more if it takes more to show two digits of them, as far as their own
/// uncertainty allows. Numbers too far apart or too small for that, each by itself (brief, with_deviation).
class Digits {
 public:
  explicit Digits(const std::vector<Measured>& column);

  std::string text(double value) const;
  /// "85.31 ± 0.42"; without the deviation where there is none (NaN or 0).
  std::string text(double value, double deviation) const;

 private:
  std::optional<int> decimals_;
};

}  // namespace ablate::db
