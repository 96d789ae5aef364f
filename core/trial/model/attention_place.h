// Where the attentions of a model stand.
#pragma once

#include "core/trial/model/instances.h"
#include "core/trial/model/model_options.h"

namespace ablate {

/// Of layer 0. @param carries whether states will be handed on
AttentionPlace attention_place(const ModelOptions& options, bool carries);

}  // namespace ablate
