// What the option `activation` names.
#pragma once

#include <nlohmann/json.hpp>

#include "ablate/tensor.h"
#include "core/shared/activations.h"

namespace ablate {

/// @param x of any shape @param own values of what the activation brings, by name @return of the same shape
using Activation = Tensor (*)(const Tensor& x, const nlohmann::json& own);

/// Each activation's, in its own file.
namespace activations {
#define ABLATE_ACTIVATION(file, ...) Tensor file(const Tensor& x, const nlohmann::json& own);
ABLATE_ACTIVATIONS(ABLATE_ACTIVATION)
#undef ABLATE_ACTIVATION
inline constexpr Activation kFiles[] = {ABLATE_ACTIVATIONS(ABLATE_FILE_OF)};
}  // namespace activations

/// Throws std::invalid_argument for a name that is none of kActivations.
inline Activation activation_of(const std::string& name) { return file_of_choice(kActivations, activations::kFiles, name); }

}  // namespace ablate
