#include "core/trial/training/precision.h"

#include "core/kernels/mixed_products.h"
#include "core/util/error.h"

namespace ablate {

void choose_products(bool mixed) {
  if (mixed && kernels::mixed_instructions().empty())
    throw Error(
        "this processor multiplies bfloat16 no faster than float32: it has neither AMX nor AVX-512's BF16, or "
        "ATEN_CPU_CAPABILITY "
        "or ONEDNN_MAX_CPU_ISA keeps them from being used; \"float32\" computes anywhere");
  kernels::multiply_mixed(mixed);
}

}  // namespace ablate
