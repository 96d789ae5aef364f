// Batches of a task as tensors on a device.
#pragma once

#include <cstdint>
#include <span>

#include "ablate/task.h"
#include "core/trial/model/batch.h"

namespace ablate {

/// Reader of a split's examples. Throws Error if a task returns values that its TaskInfo excludes.
class BatchReader {
 public:
  BatchReader(const Task& task, const TaskInfo& info, c10::Device device) : task_(task), info_(info), device_(device) {}

  /// Options for reading, besides the rows.
  struct Reading {
    std::span<const std::int64_t> position = {};     ///< streams only: Batch::position
    std::span<const std::int64_t> first_asked = {};  ///< by row: targets before this position do not count
    std::span<const std::int64_t> end_asked = {};    ///< by row: targets from this position on do not count
    std::int64_t length = 0;                         ///< row length; no later position is present; 0: the task's length
  };
  Batch read(Split split, std::span<const std::int64_t> indices, const Reading& reading) const;
  Batch read(Split split, std::span<const std::int64_t> indices) const { return read(split, indices, {}); }

 private:
  struct Filled;
  void check(const Filled& filled) const;
  void check_end(const Filled& filled, std::int64_t length) const;

  const Task& task_;
  TaskInfo info_;
  c10::Device device_;
};

}  // namespace ablate
