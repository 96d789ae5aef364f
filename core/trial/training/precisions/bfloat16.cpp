#include "core/trial/training/precision.h"

namespace ablate {

const Precision precisions::bfloat16{.type = c10::ScalarType::BFloat16};

}  // namespace ablate
