// Examples of a task for predictors, which read them one by one and store none.
#pragma once

#include <functional>
#include <utility>

#include "core/records/example_rows.h"
#include "core/trial/floors/tables.h"

namespace ablate {

/// Returns how many numbers an example has, at least one for each position and field. Memory and work grow with this number.
std::int64_t numbers_of(const TaskInfo& info);

/// Data that predictors learn from.
class LearnedData {
 public:
  using Take = std::function<void(const Example& example)>;

  virtual ~LearnedData() = default;
  const TaskInfo& info() const { return info_; }
  /// True if predictors are judged by their share of right targets, false if by bits.
  bool judged_by_share() const { return judged_by_share_; }

  /// Reads the data to learn from.
  /// @param most limit on the numbers to read (a position has a number for each field of ids), or on the positions of a stream
  /// @return number of examples, or of positions of a stream
  virtual std::int64_t train(std::int64_t most, const Take& take) const = 0;
  /// Reads the data on which settings are chosen.
  virtual std::int64_t dev(std::int64_t most, const Take& take) const = 0;

 protected:
  /// @param info must outlive this object
  LearnedData(const TaskInfo& info, bool judged_by_share) : info_(info), judged_by_share_(judged_by_share) {}

 private:
  const TaskInfo& info_;
  bool judged_by_share_;
};

/// Splits of a task. A stream is read in windows. Each window after the first begins with kBefore positions of context only.
class FloorData final : public LearnedData {
 public:
  /// @param task loaded
  /// @param rows the rows of find_floors. task and info must outlive this object.
  FloorData(const Task& task, const TaskInfo& info, const ExampleRows& rows);

  /// Reads the training data of trials: a sample, or the first positions of a stream's lanes.
  std::int64_t train(std::int64_t most, const Take& take) const override;
  std::int64_t dev(std::int64_t most, const Take& take) const override;
  /// Reads the test examples of trials (Evaluator of core/trial/training/evaluation.cpp).
  std::int64_t test(const Take& take) const;
  /// Returns the number of training examples that trials read, or of positions if the task is a stream.
  std::int64_t seen() const { return seen_; }

 private:
  static constexpr std::int64_t kBefore = 8;

  using Range = std::pair<std::int64_t, std::int64_t>;  ///< positions of a stream, the end excluded

  std::vector<Range> lanes(std::int64_t most_places) const;
  std::int64_t most_examples(std::int64_t size, std::int64_t most_numbers) const;
  void stream(Split split, const Range& range, const Take& take) const;
  void examples(Split split, const std::vector<std::int64_t>& asked, const Take& take) const;
  void give(const std::vector<Example>& examples, const Take& take) const;

  const Task& task_;
  ExampleRows rows_;
  std::vector<std::int64_t> drawn_;  ///< training examples of trials, in their order; empty: all
  std::int64_t seen_ = 0;
};

}  // namespace ablate
