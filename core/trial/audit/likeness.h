// Which examples are nearly the same. Two are compared by the symbols at each position, by the runs of symbols that they hold,
// by how often they hold each symbol, and by where they repeat one. What most examples hold counts little.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/trial/conformance/task_symbols.h"

namespace ablate {

class Likeness {
 public:
  /// The share that two versions of one real text have in common.
  static constexpr double kNearlyAll = 0.8;
  /// The same of drawn examples. They have little in common once what all examples hold is taken off.
  static constexpr double kMuch = 0.4;
  /// Share for runs: two windows of one text that overlap by half have up to a third of their runs in common, and fewer if
  /// there are few symbols.
  static constexpr double kOverlap = 0.2;

  /// kBackwards compares the positions of an example in reverse order. kCounts finds examples in any other order. kRepeats
  /// finds examples whose symbols were each replaced by another one.
  enum class By : std::uint64_t { kPositions, kRuns, kCounts, kRepeats, kBackwards };
  /// Hashes of what an example holds, sorted, each once.
  using Items = std::vector<std::uint64_t>;

  /// @param examples tell what is common @param share of the weighted positions that makes two examples alike @param info
  /// outlives it
  Likeness(const TaskInfo& info, const std::vector<Example>& examples, double share);

  /// Counts the sequences of a pair as one: runs find a pair with its documents swapped.
  Items items(const Example& example, By by) const;
  /// Adds an example that candidates() can name. @param number the caller's own for it
  void add(const Example& example, std::int64_t number);
  /// The numbers of those that may be nearly the same, the likeliest first, at most 4.
  std::vector<std::int64_t> candidates(const Items& items) const;
  /// True if two examples share so many of their items of one kind, and more than chance gives.
  bool alike(const Items& a, const Items& b, By by) const;

  /// The symbols that are present, in order, those of all fields of a position as one.
  std::vector<std::uint64_t> tokens(const Example& example) const;
  /// Returns how many positions later b has the runs of a: the shift that most of their common runs have.
  std::int64_t shift(const Example& a, const Example& b) const;

 private:
  template <class Take>
  void each_token(const Example& example, const Take& take) const;
  std::vector<std::uint64_t> runs(const Example& example) const;
  double weight(std::uint64_t item) const;
  std::vector<std::uint64_t> sketch(const Items& items) const;

  const TaskInfo& info_;
  Symbols symbols_;
  double share_;
  std::size_t run_ = 1;  ///< symbols of a run
  double nats_ = 0;      ///< of a symbol
  double known_ = 0;     ///< examples that the counts are of
  std::vector<std::uint32_t> counts_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> sketches_;
  std::vector<std::int64_t> numbers_;
};

}  // namespace ablate
