#include "core/trial/model/activation.h"

namespace ablate::activations {

Tensor gelu(const Tensor& x, const nlohmann::json&) { return ablate::gelu(x); }

}  // namespace ablate::activations
