// Sums over an evaluation, from which an objective makes its metrics.
#pragma once

#include <map>
#include <string>

#include "core/shared/metrics.h"

namespace ablate {

/// Score of all examples, or of a group.
struct Score {
  double targets = 0, right = 0;
  double loss = 0;                      ///< sum over targets of the cross-entropy, in nats
  double sequences = 0, all_right = 0;  ///< examples with a target; examples whose targets are all correct
};

/// Scores by group. Group "" has all examples, group "pairs=8" the examples of that slice.
using Scores = std::map<std::string, Score>;

/// Metric of an objective, named without its split: "accuracy".
struct Scored {
  MetricInfo info;
  double value;
};

}  // namespace ablate
