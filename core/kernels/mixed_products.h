// Products of bfloat16 with float32 sums (train.dtype = "mixed"). Only factors are rounded, just before each product.
#pragma once

#include <string_view>

#include "core/kernels/cpu/product.h"

namespace ablate::kernels {

/// Returns the instructions by which this machine multiplies bfloat16 faster than float32: "amx", "avx512" (its BF16), or "" if
/// none. ONEDNN_MAX_CPU_ISA and ATEN_CPU_CAPABILITY (instructions()) lower the result. Found at first call; any thread.
std::string_view mixed_instructions();

/// Makes the products of this process's forms mixed or float32 from now on. It sets torch's switch (float32's matmul precision,
/// "medium" or "highest"), which the host and all plugins share. LibTorch's operators read the switch too, and round if oneDNN
/// has AMX. Call it between operations, from one thread. Throws std::logic_error for mixed without mixed_instructions().
void multiply_mixed(bool mixed);

/// Returns LibTorch's product of tiles for the forms, mixed or not (multiply_mixed()). Sizes are multiples of cpu::kLanes.
cpu::Product product();

/// Guard for a thread's share of a call, made before the share's first product. The destructor releases AMX's registers, so
/// that other code can configure them.
struct ShareOfProducts {
  ShareOfProducts() = default;
  ShareOfProducts(const ShareOfProducts&) = delete;
  ShareOfProducts& operator=(const ShareOfProducts&) = delete;
  ~ShareOfProducts();
};

}  // namespace ablate::kernels
