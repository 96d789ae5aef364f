// Time that passes where somebody waits, and nowhere else.
#pragma once

#include <algorithm>

#include "core/util/clock.h"

class SimulatedClock final : public ablate::Clock {
 public:
  static constexpr std::int64_t kBegin_us = 1'700'000'000'000'000;  ///< since 1970, when now_s() is 0

  double now_s() const override { return now_s_; }
  std::int64_t since_1970_us() const override { return kBegin_us + static_cast<std::int64_t>(now_s_ * 1e6); }
  void wait(double seconds) override { now_s_ += seconds; }
  void wait_until(double moment_s) { now_s_ = std::max(now_s_, moment_s); }

 private:
  double now_s_ = 0;
};
