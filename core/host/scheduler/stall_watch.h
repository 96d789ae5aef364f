// Whether a running trial still gets on.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ablate {

/// Told of each sign of a trial: the first says that it is about to take a step, each other one that it has taken a step or a
/// part of an evaluation. Times are the scheduler's own, in seconds.
class StallWatch {
 public:
  static constexpr double kLeast_s = 300;  ///< without a sign, for any trial to be stalled
  static constexpr double kTimes = 10;     ///< the median time between two signs
  static constexpr double kFirst_s =
      3600;  ///< for the first step: kernels are chosen in it, and nothing tells how long one takes

  explicit StallWatch(double begun_s) : last_s_(begun_s) {}

  void sign(double now_s) {
    const double gap_s = now_s - std::exchange(last_s_, now_s);
    if (!std::exchange(is_ready_, true)) return;
    if (gaps_.size() < kMostKept)
      gaps_.push_back(gap_s);
    else
      gaps_[next_++ % kMostKept] = gap_s;
  }

  double silent_s(double now_s) const { return now_s - last_s_; }

  bool is_stalled(double now_s) const {
    if (silent_s(now_s) < kLeast_s) return false;
    return silent_s(now_s) >= patience_s();
  }

  /// Of one that is stalled: how its silence compares.
  std::string why() const {
    if (gaps_.empty()) return "longer than a first step may take";
    return patience_s() > kLeast_s ? fmt::format("{:g} times the median step", kTimes) : "far longer than its steps take";
  }

  double patience_s() const {
    if (gaps_.empty()) return kFirst_s;
    auto sorted = gaps_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return std::max(kLeast_s, kTimes * *middle);
  }

 private:
  static constexpr std::size_t kMostKept = 101;
  double last_s_;
  bool is_ready_ = false;
  std::vector<double> gaps_;  ///< the latest
  std::size_t next_ = 0;
};

}  // namespace ablate
