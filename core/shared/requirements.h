// What a trial asks of a plugin beyond its call, and the one place that compares it with what is promised. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ablate/plugin.h"
#include "ablate/task.h"
#include "core/shared/trial_spec.h"

namespace ablate {

/// What of a task's sequences settings and promises depend on.
struct TaskShape {
  std::int64_t length = 0;  ///< of its longest example, or of a stream's segments; 0: not known
  bool causal = false, holes = false;
  bool padded = false;  ///< some examples are shorter than others: only they tell
  bool pooled = true;   ///< a model pools over positions
  bool stream = false;  ///< its splits are streams
};

/// Of what info() says; padded is left open.
TaskShape shape_of(const TaskInfo& info);

/// Positions that attentions see at a time, of a sequence of so many.
std::int64_t seen_at_once(const ModelSpec& model, std::int64_t length);

struct Requirements {
  bool causal = false, holes = false, padded = false;  ///< by the task
  bool looks_back = false;                             ///< causal by model.causal
  bool rotary = false;                                 ///< by model.positions
  bool weight_dropout = false;                         ///< by model.attention_dropout
  bool cuda = false, half = false;                     ///< by train.device, train.dtype
  std::int64_t length = 0;                             ///< of the longest sequence, with a class token; 0: not known
  bool class_token = false;                            ///< one of them is
  auto operator<=>(const Requirements&) const = default;
};

/// Of each of a trial's attentions and compressions.
Requirements requirements_of(const TrialSpec& trial, const TaskShape& task);

/// What is not promised.
struct Unpromised {
  std::string key;   ///< that asks for it: "model.positions", "model.causal", "model.attention_dropout", "train.device",
                     ///< "train.dtype", "task.plugin"
  std::string what;  ///< "attention softmax does not promise ..."
};

/// All that a plugin does not promise of what is asked. @param can with its parameters and parts
std::vector<Unpromised> unpromised(Kind kind, const std::string& id, const Capabilities& can, const Requirements& asked);

/// Returns why padded sequences are refused, or "" if they are not.
std::string unpadded(const std::string& attention, const Capabilities& can);

}  // namespace ablate
