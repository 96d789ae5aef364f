// Batches of a task as tensors on a device.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <random>
#include <vector>

#include "ablate/task.h"

namespace ablate {

struct Batch {
  torch::Tensor ids;     ///< [batch, length] int64
  torch::Tensor mask;    ///< [batch, length] bool, true = a token; undefined where the batch has no padding
  torch::Tensor labels;  ///< [batch] int64
};

/// Reads examples of a split. Throws Error where a task hands out an id or a label that its TaskInfo excludes.
class BatchReader {
 public:
  BatchReader(const Task& task, const TaskInfo& info, c10::Device device) : task_(task), info_(info), device_(device) {}
  Batch read(Split split, std::span<const std::int64_t> indices) const;

 private:
  const Task& task_;
  TaskInfo info_;
  c10::Device device_;
};

/// The order of training: every epoch a new permutation of all examples, the same for the same seed on every machine.
class Shuffle {
 public:
  Shuffle(std::int64_t size, std::uint64_t seed);
  /// The next indices; crosses epochs, so that every batch is full.
  std::vector<std::int64_t> next(std::int64_t batch);

 private:
  void reshuffle();

  std::mt19937_64 random_;
  std::vector<std::int64_t> order_;
  std::size_t at_ = 0;
};

/// A permutation of [0, size) (Fisher-Yates on the generator's raw output, so that it does not depend on the standard library).
void permute(std::vector<std::int64_t>& items, std::mt19937_64& random);

}  // namespace ablate
