// Order of training: examples, or segments of a stream, for each step. Also samples of examples for limited evaluations.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "ablate/task.h"

namespace ablate {

/// Purposes of the independent random numbers that a trial's seed gives (splitmix64): weights, order, shuffled labels.
enum class SeedStream : std::uint64_t { kWeights, kOrder, kLabels };
std::uint64_t seed_of(std::uint64_t seed, SeedStream stream);

/// Permutes the items by Fisher-Yates, on the generator's raw output: the result does not depend on the standard library.
void permute(std::vector<std::int64_t>& items, std::mt19937_64& random);

/// Returns the examples that represent a split in a limited evaluation, also if the split is sorted. The draw depends only on
/// `size` and `count`, so every trial on every machine reads the same examples. Larger samples contain smaller samples.
/// The result has `count` of `size` examples, ascending, each once. `count` is in [0, size].
std::vector<std::int64_t> sample_of(std::int64_t size, std::int64_t count);

/// Rows of a step.
struct Rows {
  std::vector<std::int64_t> indices;   ///< examples, or positions of a stream
  std::vector<std::int64_t> position;  ///< streams only: for each row, number of the lane's tokens before it
};

/// Order of rows: examples in a new permutation every epoch, or lanes of a stream. Equal for equal seeds on every machine.
class Order {
 public:
  virtual ~Order() = default;
  virtual Rows next() = 0;
  virtual nlohmann::json save() const = 0;
  virtual void load(const nlohmann::json& saved) = 0;
};

/// Order of examples. A batch may cross epochs, so every batch is full.
class Shuffle final : public Order {
 public:
  /// @param size, batch at least 1
  Shuffle(std::int64_t size, std::int64_t batch, std::uint64_t seed);
  Rows next() override;
  nlohmann::json save() const override;
  void load(const nlohmann::json& saved) override;

 private:
  void reshuffle();

  std::int64_t batch_;
  std::mt19937_64 random_;
  std::vector<std::int64_t> order_;
  std::size_t at_ = 0;
};

/// Order of lanes: contiguous parts of a stream, read side by side, segment by segment. At its end a lane begins again, shifted
/// by a random part of a segment, so that segments are cut at other positions.
class Lanes final : public Order {
 public:
  /// @param size number of positions; each lane has size / lanes of them, at least one segment
  Lanes(std::int64_t size, std::int64_t lanes, std::int64_t segment, std::uint64_t seed);
  Rows next() override;
  nlohmann::json save() const override;
  void load(const nlohmann::json& saved) override;

 private:
  std::int64_t part_, segment_;
  std::mt19937_64 random_;
  std::vector<std::int64_t> first_, at_;  ///< by lane: first position of this round, and next position
};

/// Makes the order of a trial of this seed. Throws Error if the split is empty, or if a stream is too short for its lanes.
/// @param size size of the training split
std::unique_ptr<Order> training_order(const TaskInfo& info, std::int64_t size, std::int64_t batch, std::uint64_t seed);

}  // namespace ablate
