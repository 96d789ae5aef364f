// Sums over an evaluation, from which an objective makes its metrics.
#pragma once

#include <map>
#include <string>

#include "core/shared/metrics.h"

namespace ablate {

/// Of all examples, or of a group of them.
struct Score {
  double targets = 0, right = 0;
  double loss = 0;                      ///< sum over targets of the cross-entropy, in nats
  double sequences = 0, all_right = 0;  ///< examples with a target, and those of them whose targets are all met
};

/// By group: "" is all of them, "pairs=8" the examples of that slice.
using Scores = std::map<std::string, Score>;

/// A metric of an objective, without the split in front: "accuracy".
struct Scored {
  MetricInfo info;
  double value;
};

}  // namespace ablate
