// Result of one check: the worst of all its comparisons, and the place of the worst one.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "ablate/tensor.h"
#include "core/trial/conformance/engine/check.h"

namespace ablate {

/// A result and its name: "the output, padded".
struct Named {
  std::string what;
  Tensor value;
};
inline std::vector<Named> joined(std::vector<Named> first, const std::vector<Named>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
inline std::vector<Tensor> tensors_of(const std::vector<Named>& results) {
  std::vector<Tensor> all;
  for (const auto& result : results) all.push_back(result.value);
  return all;
}

/// Reason why a pass in training is not compared with a pass of another shape, length or type (Finding::leave).
inline constexpr const char* kDraws = "in training it draws random numbers, and another shape draws other numbers";
/// Reason why a gradient is not compared with finite differences.
inline constexpr const char* kTurns = "every step of the differences that was tried changes a discrete choice";
/// Text that follows the fault "a token changes nothing", because the method may intend this.
inline constexpr const char* kWhereSparse =
    "; if the method intends this, declare it: .sparse among its capabilities, .promises if it depends on parameters, or an "
    "exemption (ablate/plugin.h)";

class Finding {
 public:
  /// @param stops true: ends at the first fault, because only the existence of a fault matters; false: finds the worst fault
  explicit Finding(const Allowed& allowed, bool stops = false) : allowed_(allowed), stops_(stops) {}
  /// Returns an empty finding with the same settings.
  Finding anew() const { return Finding(allowed_, stops_); }
  /// From now on allows errors up to `tolerance`, if the check allows less. Excuses an exact comparison only if is_exact().
  /// @param why must outlive this finding
  void excuse(double tolerance, const char* why) { excuse_ = {tolerance, why}; }
  /// True if an error exceeded the limit that holds without the excuse.
  bool needed_excuse() const { return needed_excuse_; }
  /// True if the check allows no error: its answer is yes or no.
  bool is_exact() const { return allowed_.error == 0; }

  /// Runs `look` on this finding until `look` returns or the finding stops it.
  template <class Look>
  void take(const Look& look) {
    try {
      look(*this);
    } catch (const Stopped&) {
    }
  }

  /// Compares numbers. The error is the largest difference, divided by the largest expected number if that is above 1. Another
  /// shape, or a number that is not finite, is always wrong. Two undefined tensors are equal.
  void near(const Tensor& found, const Tensor& expected, const std::string& where) { near(found, expected, where, allowed_); }
  void near(const Tensor& found, const Tensor& expected, const std::string& where, const Allowed& allowed);
  void near(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, const std::string& where);
  /// Compares tensors one by one, in their order. Another count of tensors is wrong.
  void near(const std::vector<Named>& found, const std::vector<Named>& expected, const std::string& where,
            const Allowed& allowed);
  /// Compares by the median difference, because rounding may change a decision (routing, clusters). Used for two types, or two
  /// lengths in a narrow type. The error is divided by the largest of three: median and mean of |expected|, and the floor.
  /// @param floor least size to compare with: smaller results are sums that cancel, and only rounding is left of them
  void near_median(const Tensor& found, const Tensor& expected, const std::string& where, const Allowed& allowed,
                   double floor = 0.25);

  /// Records the best of up to three looks with different inputs, because rounding may change a decision in one of them.
  void nearest(const std::string& where, const Allowed& allowed,
               const std::function<void(std::uint64_t seed, Finding& now)>& look);

  void finite(const Tensor& numbers, const std::string& where);
  void finite(const std::vector<Tensor>& numbers, const std::string& where);
  void finite(const std::vector<Named>& results, const std::string& where);

  /// Records an error in the check's own measure.
  /// @param off NaN is wrong
  void off_by(double off, const std::string& where) { off_by(off, where, allowed_); }
  void off_by(double off, const std::string& where, const Allowed& allowed);

  /// Adds a note once. The note is reported even if the check fails.
  void say(const std::string& note);
  /// Records a look that found no error, for example that an expected exception was thrown.
  void saw() { off_by(0, ""); }
  /// Records once why something could not be checked. The reason is reported as unchecked, beside the other results.
  void leave(const std::string& why);

  /// True if anything was compared.
  bool looked() const { return over_ >= 0; }
  const std::vector<std::string>& left() const { return left_; }
  bool passed() const { return over_ <= 1; }
  double error() const { return error_; }
  double tolerance() const { return worst_allowed_.why == nullptr ? allowed_.error : worst_allowed_.error; }
  std::string why() const { return worst_allowed_.why == nullptr ? allowed_.why : worst_allowed_.why; }
  /// "off by 0.31, 1e-10 allowed: padded, item 1, position 7, channel 3: 0.31, expected 0"
  std::string text() const;

 private:
  struct Stopped {};

  /// Returns true if this error is worse than all earlier errors. This error then replaces the worst error.
  bool is_worse(double error, Allowed allowed);
  void place(const std::string& where, const std::string& numbers = "") {
    where_ = where;
    numbers_ = numbers;
    if (stops_ && !passed()) throw Stopped{};
  }

  Allowed allowed_, worst_allowed_{0, nullptr}, excuse_{0, nullptr};
  bool stops_, needed_excuse_ = false;
  double error_ = 0;
  double over_ = -1;                    ///< worst error, divided by the allowed error
  std::string where_, numbers_, note_;  ///< numbers_: the number found and the expected one
  std::vector<std::string> left_;
};

}  // namespace ablate
