// Numbers of examples that a trial trains on and is tested on.
#pragma once

#include <compare>
#include <cstdint>

namespace ablate {

/// Numbers of rows that a trial reads, computed from its settings. If the task is a stream, a row is a segment.
struct ExampleRows {
  std::int64_t test = 0;   ///< train.test_batches x train.batch; 0: the whole split
  std::int64_t train = 0;  ///< train.steps x train.accumulate x train.batch; 0: the whole split
  /// train.batch: parts of a stream that are read side by side, each part from its start. Unused unless the task is a stream.
  std::int64_t lanes = 0;
  auto operator<=>(const ExampleRows&) const = default;
};

}  // namespace ablate
