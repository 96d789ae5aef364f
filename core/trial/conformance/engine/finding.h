// What a check finds: the worst of all that it is shown, and where that is.
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

/// A result by its name: "the output, padded".
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

/// Why a pass in training is not compared with one of another shape, length or type (Finding::leave).
inline constexpr const char* kDraws = "in training it draws, and another shape meets other numbers";
/// Why a gradient is not compared with differences.
inline constexpr const char* kTurns = "a choice turns within every step of the differences that were tried";
/// Behind a token that changes nothing, which may be what the method means.
inline constexpr const char* kWhereSparse =
    "; where that is the method, declare it: .sparse among its capabilities, .promises where it depends on parameters, or an "
    "exemption (ablate/plugin.h)";

class Finding {
 public:
  /// @param stops at the first thing that is wrong, for who asks whether there is any; else the worst of all is told
  explicit Finding(const Allowed& allowed, bool stops = false) : allowed_(allowed), stops_(stops) {}
  /// One of its own kind that was shown nothing.
  Finding anew() const { return Finding(allowed_, stops_); }
  /// Lets errors up to this one pass from now on, if less is allowed. Exception: comparisons that must be exact in a check that
  /// allows rounding. @param why has to outlive it
  void excuse(double tolerance, const char* why) { excuse_ = {tolerance, why}; }
  /// True if an error was above what is allowed without the excuse.
  bool needed_excuse() const { return needed_excuse_; }
  /// True if the check allows no error: it says yes or no.
  bool is_exact() const { return allowed_.error == 0; }

  /// Has it shown all that a check looks at, or what comes before it stops.
  template <class Look>
  void take(const Look& look) {
    try {
      look(*this);
    } catch (const Stopped&) {
    }
  }

  /// Compares numbers of one place: off by the largest difference, relative to the largest number expected where that is
  /// above 1. Another shape, or a number that is not finite, is wrong whatever is allowed. Two undefined tensors are equal.
  void near(const Tensor& found, const Tensor& expected, const std::string& where) { near(found, expected, where, allowed_); }
  void near(const Tensor& found, const Tensor& expected, const std::string& where, const Allowed& allowed);
  void near(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, const std::string& where);
  /// One by one, each where it stands; another number of them is wrong.
  void near(const std::vector<Named>& found, const std::vector<Named>& expected, const std::string& where,
            const Allowed& allowed);
  /// Of two types, or of two lengths in a narrow one, where a decision (routing, clusters) may fall otherwise: the median
  /// difference, relative to the size of what is expected, its median or its mean, where that is above the floor.
  /// @param floor a size below which what is left of a sum that cancels is rounding
  void near_median(const Tensor& found, const Tensor& expected, const std::string& where, const Allowed& allowed,
                   double floor = 0.25);

  /// Takes the best of up to three looks, each with other inputs: rounding may turn a decision in one of them.
  void nearest(const std::string& where, const Allowed& allowed,
               const std::function<void(std::uint64_t seed, Finding& now)>& look);

  void finite(const Tensor& numbers, const std::string& where);
  void finite(const std::vector<Tensor>& numbers, const std::string& where);
  void finite(const std::vector<Named>& results, const std::string& where);

  /// A measure of the check's own. @param off NaN is wrong
  void off_by(double off, const std::string& where) { off_by(off, where, allowed_); }
  void off_by(double off, const std::string& where, const Allowed& allowed);

  /// Something to be told however the check ends, once.
  void say(const std::string& note);
  /// That it is right by an exception that was not thrown, or by one that was.
  void saw() { off_by(0, ""); }
  /// What could not be looked at, and why, once: that is told as unchecked, beside the rest.
  void leave(const std::string& why);

  /// Whether it was shown anything at all.
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

  /// Whether it is worse than all before, which then it replaces.
  bool is_worse(double error, Allowed allowed);
  void place(const std::string& where, const std::string& numbers = "") {
    where_ = where;
    numbers_ = numbers;
    if (stops_ && !passed()) throw Stopped{};
  }

  Allowed allowed_, worst_allowed_{0, nullptr}, excuse_{0, nullptr};
  bool stops_, needed_excuse_ = false;
  double error_ = 0;
  double over_ = -1;                    ///< of the worst: its error over what is allowed
  std::string where_, numbers_, note_;  ///< numbers_: what is there, and what was expected
  std::vector<std::string> left_;
};

}  // namespace ablate
