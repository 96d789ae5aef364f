// Batches of a task as tensors on a device.
#pragma once

#include <cstdint>
#include <span>

#include "ablate/task.h"
#include "core/trial/model/batch.h"

namespace ablate {

/// Reads examples of a split. Throws Error where a task hands out what its TaskInfo excludes.
class BatchReader {
 public:
  BatchReader(const Task& task, const TaskInfo& info, c10::Device device) : task_(task), info_(info), device_(device) {}

  /// What a reading asks for besides the rows.
  struct Reading {
    std::span<const std::int64_t> position = {};     ///< of a stream: Batch::position
    std::span<const std::int64_t> first_asked = {};  ///< of each row: targets before this position do not count
    std::span<const std::int64_t> end_asked = {};    ///< nor from this one on
    std::int64_t length = 0;                         ///< of the rows, behind which nothing is present; 0: of the task
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
