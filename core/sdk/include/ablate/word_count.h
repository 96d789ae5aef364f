// A stream whose words can be counted, whatever its tokens are. Torch-free.
#pragma once

#include "ablate/task.h"

namespace ablate {

/// A Task of a stream may be one as well. Its scores are then told as a perplexity of a word, too: the exponential of the whole
/// cross-entropy over the number of words, so that a model of bytes compares with one of words.
class WordCount {
 public:
  virtual ~WordCount() = default;

  /// Words of the first indices of a split, as its publication counts them; 0: none are told. After load(); from any thread.
  /// @param places in [1, size(split)]
  virtual std::int64_t words(Split split, std::int64_t places) const = 0;
};

}  // namespace ablate
