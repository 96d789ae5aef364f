// Naive Bayes over what stands in an example: as counts of symbols and of two that follow each other, or by position.
#pragma once

#include <span>

#include "core/trial/conformance/task_symbols.h"

namespace ablate {

class Bayes {
 public:
  enum class Over { kCounts, kPositions };

  /// Of one class an example. @param examples, symbols outlive it
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
