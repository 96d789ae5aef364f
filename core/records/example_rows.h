// How many examples of a task trials train on and are tested on.
#pragma once

#include <compare>
#include <cstdint>

namespace ablate {

/// As a trial's settings tell it: rows that are read, of a stream segments.
struct ExampleRows {
  std::int64_t test = 0;   ///< train.test_batches x train.batch; 0: the whole split
  std::int64_t train = 0;  ///< train.steps x train.accumulate x train.batch; 0: the whole split
  /// train.batch: the parts of a stream that are read side by side, each from its beginning. Of examples it tells nothing.
  std::int64_t lanes = 0;
  auto operator<=>(const ExampleRows&) const = default;
};

}  // namespace ablate
