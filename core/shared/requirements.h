// Requirements of a trial on its plugins. Only this code compares requirements with promises. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ablate/plugin.h"
#include "ablate/task.h"
#include "core/shared/trial_spec.h"

namespace ablate {

/// Properties of a task's sequences that settings and promises depend on.
struct TaskShape {
  std::int64_t length = 0;  ///< length of the longest example, or of a stream's segments; 0: unknown
  bool causal = false, holes = false;
  bool padded = false;  ///< some examples are shorter than others; known only if the examples were read
  bool pooled = true;   ///< a model pools over positions
  bool stream = false;  ///< the task's splits are streams
};

/// Returns the shape that info() describes; `padded` is not set.
TaskShape shape_of(const TaskInfo& info);

/// Returns the number of positions that an attention sees at a time in a sequence of this length.
std::int64_t seen_at_once(const ModelSpec& model, std::int64_t length);

struct Requirements {
  bool causal = false, holes = false, padded = false;  ///< required by the task
  bool looks_back = false;                             ///< causal because of model.causal
  bool rotary = false;                                 ///< required by model.positions
  bool weight_dropout = false;                         ///< required by model.attention_dropout
  bool cuda = false, half = false;                     ///< required by train.device, train.dtype
  std::int64_t length = 0;                             ///< longest sequence, including a class token; 0: unknown
  bool class_token = false;                            ///< true if `length` includes a class token
  auto operator<=>(const Requirements&) const = default;
};

/// Returns the requirements that hold for each of the trial's attentions and compressions.
Requirements requirements_of(const TrialSpec& trial, const TaskShape& task);

/// Requirement that a plugin does not promise.
struct Unpromised {
  std::string key;   ///< setting that causes the requirement: "model.positions", "model.causal", "model.attention_dropout",
                     ///< "train.device", "train.dtype", "task.plugin"
  std::string what;  ///< "attention softmax does not promise ..."
};

/// Returns the requirements that the plugin does not promise. `can`: the plugin's promises with its parameters and parts.
std::vector<Unpromised> unpromised(Kind kind, const std::string& id, const Capabilities& can, const Requirements& required);

/// Returns why padded sequences are refused, or "" if the attention promises key_padding.
std::string unpadded(const std::string& attention, const Capabilities& can);

}  // namespace ablate
