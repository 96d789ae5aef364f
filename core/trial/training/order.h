// Which examples, or which segments of a stream, a step trains on, and which examples an evaluation is limited to.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "ablate/task.h"

namespace ablate {

/// Independent streams from a trial's seed (splitmix64): weights, order of examples, shuffled labels.
enum class SeedStream : std::uint64_t { kWeights, kOrder, kLabels };
std::uint64_t seed_of(std::uint64_t seed, SeedStream stream);

/// A permutation of the items (Fisher-Yates on the generator's raw output, so that it does not depend on the standard library).
void permute(std::vector<std::int64_t>& items, std::mt19937_64& random);

/// The examples that stand for a split where an evaluation is limited: a sample drawn by the two numbers alone, so that every
/// trial on every machine is asked the same, whatever order the split's files have. A larger one holds the smaller ones.
/// @param size of the split @param count of examples, in [0, size] @return ascending, each once
std::vector<std::int64_t> sample_of(std::int64_t size, std::int64_t count);

/// Rows of a step.
struct Rows {
  std::vector<std::int64_t> indices;   ///< examples, or positions of a stream
  std::vector<std::int64_t> position;  ///< of a stream: tokens of the lane's text before each
};

/// Two kinds: examples in a new permutation every epoch, and lanes of a stream. The same for the same seed on every machine.
class Order {
 public:
  virtual ~Order() = default;
  virtual Rows next() = 0;
  virtual nlohmann::json save() const = 0;
  virtual void load(const nlohmann::json& saved) = 0;
};

/// Examples; a batch may cross epochs, so that every one is full.
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

/// Contiguous parts of a stream side by side, each read segment by segment. At its end a lane begins again, shifted by a random
/// part of a segment, so that segments are cut elsewhere.
class Lanes final : public Order {
 public:
  /// @param size positions; each lane has size / lanes of them, at least one segment
  Lanes(std::int64_t size, std::int64_t lanes, std::int64_t segment, std::uint64_t seed);
  Rows next() override;
  nlohmann::json save() const override;
  void load(const nlohmann::json& saved) override;

 private:
  std::int64_t part_, segment_;
  std::mt19937_64 random_;
  std::vector<std::int64_t> first_, at_;  ///< of each lane: where this round began, and how far it is
};

/// That of a trial. @param size of the training split @param seed the trial's. Throws Error where there is nothing, or of a
/// stream too little.
std::unique_ptr<Order> training_order(const TaskInfo& info, std::int64_t size, std::int64_t batch, std::uint64_t seed);

}  // namespace ablate
