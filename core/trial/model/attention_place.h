// Place of a model's attentions.
#pragma once

#include "core/trial/model/instances.h"
#include "core/trial/model/model_options.h"

namespace ablate {

/// Returns the place of layer 0's attention. `carries` is true if states are carried from segment to segment.
AttentionPlace attention_place(const ModelOptions& options, bool carries);

}  // namespace ablate
