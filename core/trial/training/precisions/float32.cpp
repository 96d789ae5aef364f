#include "core/trial/training/precision.h"

namespace ablate {

const Precision precisions::float32{.type = c10::ScalarType::Float};

}  // namespace ablate
