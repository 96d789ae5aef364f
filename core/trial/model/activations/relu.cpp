#include "core/trial/model/activation.h"

namespace ablate::activations {

Tensor relu(const Tensor& x, const nlohmann::json&) { return x.relu(); }

}  // namespace ablate::activations
