// Stream whose words can be counted, for any kind of token. Torch-free.
#pragma once

#include "ablate/task.h"

namespace ablate {

/// Optional second base class of a stream's Task. Such a stream's scores are also reported as a perplexity of a word: the
/// exponential of the total cross-entropy divided by the number of words. This makes models of bytes and of words comparable.
class WordCount {
 public:
  virtual ~WordCount() = default;

  /// Returns the number of words in the first `places` indices of a split, counted as in the data's publication; 0: none.
  /// Called after load(), from any thread.
  /// @param places in [1, size(split)]
  virtual std::int64_t words(Split split, std::int64_t places) const = 0;
};

}  // namespace ablate
