// A clock that shows the time that a test sets.
#pragma once

#include "core/util/clock.h"

namespace ablate {

class SetClock final : public Clock {
 public:
  double now_s() const override { return now; }
  std::int64_t since_1970_us() const override { return 0; }
  void wait(double seconds) override { now += seconds; }
  double now = 0;
};

}  // namespace ablate
