#include "core/trial/model/activation.h"

namespace ablate::activations {

Tensor silu(const Tensor& x, const nlohmann::json&) { return ablate::silu(x); }

}  // namespace ablate::activations
