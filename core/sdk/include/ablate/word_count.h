// Stream whose words can be counted, for any kind of token. Torch-free.
#pragma once

#include "ablate/task.h"

namespace ablate {

/// Optional second base of a stream's Task. Such a stream's scores are also reported as a perplexity of a word: the exponential
/// of the total cross-entropy divided by the number of words. This makes a model of bytes comparable with a model of words.
class WordCount {
 public:
  virtual ~WordCount() = default;

  /// Returns the words in the first `places` indices of a split, counted as in the data's publication; 0: none. After load().
  /// Any thread.
  /// @param places in [1, size(split)]
  virtual std::int64_t words(Split split, std::int64_t places) const = 0;
};

}  // namespace ablate
