// The parameters of a trial that no plugin declares: sections [model] and [train] of a study.
#pragma once

#include <span>

#include "core/registry/plugin_info.h"

namespace ablate {

/// Parsed once; any thread.
std::span<const ParameterInfo> model_parameters();
std::span<const ParameterInfo> train_parameters();

/// Whether train.device may say so: "cpu", "cuda" or "cuda:N".
bool is_device(const std::string& text);

}  // namespace ablate
