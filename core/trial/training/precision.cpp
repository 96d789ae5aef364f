#include "core/trial/training/precision.h"

#include "core/kernels/mixed_products.h"
#include "core/util/error.h"

namespace ablate {

void check_products(bool mixed) {
  if (!mixed || !kernels::mixed_instructions().empty()) return;
  throw Error(
      "fused forms have no products of bfloat16 here: they need AMX or AVX-512 BF16, which ATEN_CPU_CAPABILITY "
      "and ONEDNN_MAX_CPU_ISA can disable; \"float32\" computes anywhere");
}

Products::Products(bool mixed) {
  check_products(mixed);
  kernels::multiply_mixed(mixed);
}

Products::~Products() { kernels::multiply_mixed(false); }

}  // namespace ablate
