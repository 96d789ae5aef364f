// A task's examples for predictors, which read them one by one and keep none.
#pragma once

#include <functional>
#include <utility>

#include "core/records/example_rows.h"
#include "core/trial/floors/tables.h"

namespace ablate {

/// Numbers of an example, of which a position without reals has one: what its memory and the work on it go by.
std::int64_t numbers_of(const TaskInfo& info);

/// Data that predictors learn from.
class LearnedData {
 public:
  using Take = std::function<void(const Example& example)>;

  virtual ~LearnedData() = default;
  const TaskInfo& info() const { return info_; }
  /// True if predictors are judged by their share of right targets, false if by bits.
  bool asks_share() const { return asks_share_; }

  /// Reads the data to learn from. @param most numbers to read at most (a position of ids has one for each field) @return
  /// number of examples, or of positions of a stream
  virtual std::int64_t train(std::int64_t most, const Take& take) const = 0;
  /// Reads the data to choose on.
  virtual std::int64_t dev(std::int64_t most, const Take& take) const = 0;

 protected:
  /// @param info outlives it
  LearnedData(const TaskInfo& info, bool asks_share) : info_(info), asks_share_(asks_share) {}

 private:
  const TaskInfo& info_;
  bool asks_share_;
};

/// Splits of a task. A stream is read in windows, which begin with kBefore positions that are not predicted.
class FloorData final : public LearnedData {
 public:
  /// @param task loaded @param rows as find_floors takes them; task and info outlive it
  FloorData(const Task& task, const TaskInfo& info, const ExampleRows& rows);

  /// Reads the data that trials train on: a sample, or the first positions of a stream's lanes.
  std::int64_t train(std::int64_t most, const Take& take) const override;
  std::int64_t dev(std::int64_t most, const Take& take) const override;
  /// Reads the examples that trials are tested on (Evaluator of core/trial/training/evaluation.cpp).
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
  ExampleRows rows_;
  std::vector<std::int64_t> drawn_;  ///< the examples that trials train on, in their order; empty: all
  std::int64_t seen_ = 0;
};

}  // namespace ablate
