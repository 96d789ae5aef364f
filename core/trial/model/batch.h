// Input of a model: examples, or segments of a stream, as tensors on a device.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ablate {

/// One batch. For pairs of sequences, all first sequences come before all second sequences: rows = sequences * batch.
struct Batch {
  std::int64_t size = 0;             ///< examples, or lanes
  std::vector<at::Tensor> fields;    ///< by field: [rows, length] int64, or [rows, length, reals] float32
  at::Tensor mask;                   ///< [rows, length] bool, true = not padding; undefined: no padding
  at::Tensor position;               ///< streams only: [batch] int64, number of earlier tokens of the text; else undefined
  std::vector<std::uint8_t> starts;  ///< streams only, by lane: 1 if a new text begins with the segment
  at::Tensor asked;    ///< positions in [batch * length] that have a target: [targets] int64; only for targets at positions
  at::Tensor targets;  ///< [batch], or [targets] for targets at positions; int64
  std::vector<std::vector<std::int64_t>> slices;  ///< slice values of each example, by TaskInfo::slices
};

}  // namespace ablate
