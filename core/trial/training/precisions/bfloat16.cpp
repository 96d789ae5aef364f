#include "core/trial/training/precision.h"

namespace ablate {

Precision precisions::bfloat16(const nlohmann::json&) { return {.type = c10::ScalarType::BFloat16}; }

}  // namespace ablate
