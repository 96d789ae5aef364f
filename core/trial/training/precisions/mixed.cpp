// Weights, norms, sums and the optimiser are float32's; fused forms' products round their inputs (Micikevicius et al. 2018,
// section 3.3, keeps sums in float32, too).
#include "core/trial/training/precision.h"

namespace ablate {

Precision precisions::mixed(const nlohmann::json&) { return {.type = c10::ScalarType::Float, .mixed = true}; }

}  // namespace ablate
