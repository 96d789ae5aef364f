// A task's splits as predictors read them: example by example, none kept.
#pragma once

#include <functional>

#include "core/trial/conformance/task_examples.h"

namespace ablate {

class FloorData {
 public:
  using Take = std::function<void(const Example& example)>;

  /// @param task loaded @param rows of the test split, as find_floors takes them; both outlive it
  FloorData(const Task& task, const TaskInfo& info, std::int64_t rows) : task_(task), info_(info), rows_(rows) {}

  const TaskInfo& info() const { return info_; }
  /// Whether the task is judged by the share of targets met, and not by bits.
  bool asks_share() const { return info_.unit.empty(); }

  /// A stream is read in windows: kBefore places, of which none is asked, stand before those that are.
  /// @param most numbers that are read at most (a place of ids has one a field): sample_of the split, or a stream's first
  /// places
  /// @return examples, or places
  std::int64_t train(std::int64_t most, const Take& take) const { return read(Split::kTrain, most, 0, take); }
  std::int64_t dev(std::int64_t most, const Take& take) const { return read(Split::kDev, most, 0, take); }
  /// Those that trials are asked (Evaluator of core/trial/training/evaluation.cpp).
  std::int64_t test(const Take& take) const { return read(Split::kTest, 0, rows_, take); }
  std::int64_t size(Split split) const { return task_.size(split); }

 private:
  static constexpr std::int64_t kBefore = 8;

  std::int64_t read(Split split, std::int64_t most_places, std::int64_t most_rows, const Take& take) const;
  void stream(Split split, std::int64_t size, const Take& take) const;
  void examples(Split split, std::int64_t count, const Take& take) const;
  void give(const std::vector<Example>& examples, const Take& take) const;

  const Task& task_;
  const TaskInfo& info_;
  std::int64_t rows_;
};

/// Calls take(at, target) for each target that is asked.
template <class TakeTarget>
void each_target_of(const Example& example, const TakeTarget& take) {
  for (std::size_t at = 0; at < example.targets.size(); ++at)
    if (example.targets[at] >= 0) take(at, example.targets[at]);
}

}  // namespace ablate
