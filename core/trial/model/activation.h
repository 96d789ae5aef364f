// Activation functions, named by the option `activation`.
#pragma once

#include <nlohmann/json.hpp>

#include "ablate/tensor.h"
#include "core/shared/activations.h"

namespace ablate {

/// Function from x (any shape) to the same shape. `own` has the values of the activation's own parameters, by name.
using Activation = Tensor (*)(const Tensor& x, const nlohmann::json& own);

/// Each activation's function, in its own file.
namespace activations {
#define ABLATE_ACTIVATION(file, ...) Tensor file(const Tensor& x, const nlohmann::json& own);
ABLATE_ACTIVATIONS(ABLATE_ACTIVATION)
#undef ABLATE_ACTIVATION
inline constexpr Activation kFiles[] = {ABLATE_ACTIVATIONS(ABLATE_FILE_OF)};
}  // namespace activations

/// Returns the activation with that name. Throws std::invalid_argument if kActivations has no such name.
inline Activation activation_of(const std::string& name) { return file_of_choice(kActivations, activations::kFiles, name); }

}  // namespace ablate
