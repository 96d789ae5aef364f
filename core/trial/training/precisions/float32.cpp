#include "core/trial/training/precision.h"

namespace ablate {

Precision precisions::float32(const nlohmann::json&) { return {.type = c10::ScalarType::Float}; }

}  // namespace ablate
