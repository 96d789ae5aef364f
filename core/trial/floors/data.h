// A task's splits as predictors read them: example by example, none kept.
#pragma once

#include <functional>
#include <utility>

#include "core/records/example_rows.h"
#include "core/trial/conformance/task/examples.h"

namespace ablate {

class FloorData {
 public:
  using Take = std::function<void(const Example& example)>;

  /// @param task loaded @param rows as find_floors takes them; task and info outlive it
  FloorData(const Task& task, const TaskInfo& info, const ExampleRows& rows);

  const TaskInfo& info() const { return info_; }
  /// Whether the task is judged by the share of targets met, and not by bits.
  bool asks_share() const { return info_.unit.empty(); }

  /// A stream is read in windows: kBefore positions, of which none is asked, stand before those that are.
  /// Of what trials train on.
  /// @param most numbers that are read at most (a place of ids has one a field): a sample, or the first positions of a stream's
  /// lanes
  /// @return examples, or positions
  std::int64_t train(std::int64_t most, const Take& take) const;
  std::int64_t dev(std::int64_t most, const Take& take) const;
  /// Those that trials are asked (Evaluator of core/trial/training/evaluation.cpp).
  std::int64_t test(const Take& take) const;
  /// Examples, or positions, that trials train on.
  std::int64_t seen() const { return seen_; }

 private:
  static constexpr std::int64_t kBefore = 8;

  using Range = std::pair<std::int64_t, std::int64_t>;  ///< positions of a stream, the last one excluded

  std::vector<Range> lanes(std::int64_t most_places) const;
  std::int64_t most_examples(std::int64_t size, std::int64_t most_numbers) const;
  void stream(Split split, const Range& range, const Take& take) const;
  void examples(Split split, const std::vector<std::int64_t>& asked, const Take& take) const;
  void give(const std::vector<Example>& examples, const Take& take) const;

  const Task& task_;
  const TaskInfo& info_;
  ExampleRows rows_;
  std::vector<std::int64_t> drawn_;  ///< the examples that trials train on, in their order; empty: all
  std::int64_t seen_ = 0;
};

/// Calls take(at, target) for each target that is asked.
template <class TakeTarget>
void each_target_of(const Example& example, const TakeTarget& take) {
  for (std::size_t at = 0; at < example.targets.size(); ++at)
    if (example.targets[at] >= 0) take(at, example.targets[at]);
}

}  // namespace ablate
