// Naive Bayes: from the symbols of an example to its label.
#pragma once

#include <span>

#include "core/trial/conformance/task_symbols.h"

namespace ablate {

class Bayes {
 public:
  /// What it counts: symbols and pairs of neighbours wherever they stand, or the symbol at each position.
  enum class Over { kCounts, kPositions };

  /// Learns from examples that have one class each. @param examples, symbols outlive it
  Bayes(Over over, const Symbols& symbols, std::int64_t classes, std::span<const Example* const> examples);
  std::int64_t operator()(const Example& example, std::size_t at) const;

 private:
  template <class Take>
  void each_event(const Example& example, const Take& take) const;

  Over over_;
  const Symbols& symbols_;
  std::size_t classes_;
  std::vector<float> logarithms_;  ///< [buckets, classes]; 0 of what never occurred
  std::vector<double> priors_;
};

}  // namespace ablate
