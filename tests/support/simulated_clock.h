// Simulated time, which passes only during a wait.
#pragma once

#include <algorithm>
#include <functional>

#include "core/util/clock.h"

class SimulatedClock final : public ablate::Clock {
 public:
  static constexpr std::int64_t kBegin_us = 1'700'000'000'000'000;  ///< time since 1970 at which now_s() is 0

  double now_s() const override { return now_s_; }
  std::int64_t since_1970_us() const override { return kBegin_us + shift_us_ + static_cast<std::int64_t>(now_s_ * 1e6); }
  void wait(double seconds) override { wait_until(now_s_ + seconds); }
  void wait_until(double moment_s) {
    if (while_waiting && moment_s > now_s_) while_waiting(moment_s);
    pass_until(moment_s);
  }
  /// Lets time pass without calling while_waiting.
  void pass_until(double moment_s) { now_s_ = std::max(now_s_, moment_s); }
  /// Advances the time since 1970. now_s() does not change.
  void set_forward(double seconds) { shift_us_ += static_cast<std::int64_t>(seconds * 1e6); }

  /// Called during a wait, with the end of the wait. Runs other parts of a simulation, which may move time beyond that end.
  std::function<void(double moment_s)> while_waiting = {};

 private:
  double now_s_ = 0;
  std::int64_t shift_us_ = 0;
};
