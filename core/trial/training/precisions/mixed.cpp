// Weights, norms, sums and the optimiser use float32. Products of fused forms round their inputs to bfloat16. Micikevicius et
// al. 2018 (section 3.3) keep sums in float32, too.
#include "core/trial/training/precision.h"

namespace ablate {

Precision precisions::mixed(const nlohmann::json&) { return {.type = c10::ScalarType::Float, .mixed = true}; }

}  // namespace ablate
