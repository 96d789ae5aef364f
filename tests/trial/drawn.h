// Random numbers for the tasks of tests.
#pragma once

#include <cstdint>

#include "core/trial/conformance/task/symbols.h"

namespace ablate {

/// Time limit that is enough for any predictor, in seconds.
inline constexpr double kEnough_s = 1000;

/// Pseudorandom whole numbers, equal for equal values of `start`.
class Draw {
 public:
  explicit Draw(std::uint64_t start) : state_(mixed(start, 17)) {}
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>((state_ = mixed(state_, 1)) % static_cast<std::uint64_t>(end));
  }

 private:
  std::uint64_t state_;
};

}  // namespace ablate
