// Which examples are nearly the same: what stands where, or which runs of symbols occur, as far as others do not share it.
#pragma once

#include <optional>
#include <unordered_map>

#include "core/trial/conformance/task_symbols.h"

namespace ablate {

class Likeness {
 public:
  /// Of real data: other versions of one text.
  static constexpr double kNearlyAll = 0.8;
  /// Of drawn data, which share nothing but what each other example may have as well: that is taken off.
  static constexpr double kMuch = 0.4;

  /// @param examples to learn from what is common @param share that makes two of them alike @param info outlives it
  Likeness(const TaskInfo& info, const std::vector<Example>& examples, double share);

  /// Puts an example among those that are looked through. @param number the caller's own for it
  void add(const Example& example, std::int64_t number);
  /// The numbers of those that may be nearly the same, the likeliest first, at most 4.
  std::vector<std::int64_t> candidates(const Example& example) const;
  /// Whether two share so much of what is not common, by symbols at positions or by runs of symbols, and so much that it is no
  /// chance. The sequences of a pair count as one, so that a pair with its documents swapped is found.
  bool alike(const Example& a, const Example& b) const;

 private:
  /// Hashes of what an example holds, sorted, each once.
  using Items = std::vector<std::uint64_t>;
  enum class By : std::uint64_t { kPositions, kRuns };
  Items items(const Example& example, By by) const;
  double weight(std::uint64_t item) const;
  std::vector<std::uint64_t> sketch(const Items& items) const;
  bool alike(const Items& a, const Items& b, double each) const;

  const TaskInfo& info_;
  Symbols symbols_;
  double share_;
  std::size_t run_ = 1;  ///< symbols of a run
  double known_ = 0;     ///< examples that the counts are of
  std::vector<std::uint32_t> counts_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> sketches_;
  std::vector<std::int64_t> numbers_;
};

}  // namespace ablate
