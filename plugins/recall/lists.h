// Examples of multi-query associative recall.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ablate/task.h"

namespace ablate::recall {

struct Pair {
  std::int64_t key, value;
  std::size_t place;  ///< position of the query
};

class Lists {
 public:
  /// @param pairs "4", or several rising numbers like "2,4,8", used in turn; each at most length / 4. Throws
  /// std::invalid_argument for another text, and if the vocabulary has too few ids.
  Lists(std::int64_t length, std::int64_t vocabulary, const std::string& pairs);

  const std::vector<std::int64_t>& pairs() const { return pairs_; }

  /// Draws an example whose list of keys and values belongs to the split. `turn` selects the number of pairs.
  std::vector<Pair> draw(Split split, std::size_t turn, std::mt19937_64& random) const;

 private:
  void place(std::vector<Pair>& example, std::mt19937_64& random) const;

  std::int64_t length_, vocabulary_;
  std::vector<std::int64_t> pairs_;
  std::vector<double> likely_;  ///< probability weights, by gap between the pairs and a query
};

}  // namespace ablate::recall
