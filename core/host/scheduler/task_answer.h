// What a worker says of a task, as this version's workers say it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/shared/requirements.h"

namespace ablate {

struct TaskAnswer {
  std::string failed;  ///< why it says nothing else; "" where it does
  bool fault = false;  ///< whether that is the library's fault

  TaskShape shape;                ///< padded: of "prepare-task" alone, where it was asked for
  std::int64_t train_length = 0;  ///< of the longest example in training
  /// Of "prepare-task" alone: what the data tell.
  struct Data {
    std::string digest;
    std::int64_t train_places = 0;              ///< examples of the training split; of a stream its places
    std::int64_t train = 0, dev = 0, test = 0;  ///< examples of each split; of a stream segments
  } data;
};

/// Throws json::exception where a field lacks or is none that a task can have: what is remembered may be of another version,
/// or of nobody that this program knows.
/// @param question {"kind": "describe-task" or "prepare-task", "scan_padding"}
TaskAnswer task_answer_from(const nlohmann::json& answer, const nlohmann::json& question);

}  // namespace ablate
