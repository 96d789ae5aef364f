// What a model is given: examples, or segments of a stream, as tensors on a device.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ablate {

/// Of a pair of sequences the first ones come first, then the second ones: rows = sequences * batch.
struct Batch {
  std::int64_t size = 0;             ///< examples, or lanes
  std::vector<at::Tensor> fields;    ///< by field: [rows, length] int64, or [rows, length, reals] float32
  at::Tensor mask;                   ///< [rows, length] bool, true = something stands there; undefined: everywhere
  at::Tensor position;               ///< of a stream: [batch] int64, tokens of the text before the segment; else undefined
  std::vector<std::uint8_t> starts;  ///< of a stream, by lane: 1 where a new text begins with the segment
  at::Tensor asked;    ///< of targets at positions: [targets] int64, positions in [batch * length] that have a target
  at::Tensor targets;  ///< [batch], or [targets] at positions; int64
  std::vector<std::vector<std::int64_t>> slices;  ///< of each example, by TaskInfo::slices
};

}  // namespace ablate
