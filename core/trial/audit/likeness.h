// Which examples are nearly the same. Two are compared by the symbols at each position and by the runs of symbols that they
// hold. What most examples hold counts little.
#pragma once

#include <optional>
#include <unordered_map>

#include "core/trial/conformance/task_symbols.h"

namespace ablate {

class Likeness {
 public:
  /// The share that two versions of one real text have in common.
  static constexpr double kNearlyAll = 0.8;
  /// The same of drawn examples. They have little in common once what all examples hold is taken off.
  static constexpr double kMuch = 0.4;

  /// @param examples tell what is common @param share of the weighted items that makes two examples alike @param info outlives
  /// it
  Likeness(const TaskInfo& info, const std::vector<Example>& examples, double share);

  /// Adds an example that candidates() can name. @param number the caller's own for it
  void add(const Example& example, std::int64_t number);
  /// The numbers of those that may be nearly the same, the likeliest first, at most 4.
  std::vector<std::int64_t> candidates(const Example& example) const;
  /// Whether two share `share` of their items, by positions or by runs, and more than chance gives. The sequences of a pair
  /// count as one: a pair with its documents swapped is found.
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
