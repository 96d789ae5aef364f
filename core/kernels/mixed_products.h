// Products of bfloat16 with float32 sums (train.dtype = "mixed"): what forms multiply is rounded where they multiply it; all
// that is kept, summed or normed is float32.
#pragma once

#include <string_view>

#include "core/kernels/cpu/product.h"

namespace ablate::kernels {

/// By which instructions this machine multiplies bfloat16 faster than float32: "amx", "avx512" (its BF16), or "": it does not.
/// What lowers instructions() (choice.h), and ONEDNN_MAX_CPU_ISA, lower it. Found at the first call; any thread.
std::string_view mixed_instructions();

/// From now on products of this process's forms are mixed, or are not: torch's own switch (float32's matmul precision, "medium"
/// or "highest"), which is one for the host and all plugins. LibTorch's operators read it, too, and round where oneDNN has AMX.
/// Between operations, from one thread. Throws std::logic_error where mixed_instructions() has none.
void multiply_mixed(bool mixed);

/// What forms are handed: LibTorch's product of tiles, as multiply_mixed() says. Sizes are multiples of cpu::kLanes.
cpu::Product product();

/// A thread's share of a call, made before its first product: at its end AMX's registers are given back, so that the next user
/// configures its own.
struct ShareOfProducts {
  ShareOfProducts() = default;
  ShareOfProducts(const ShareOfProducts&) = delete;
  ShareOfProducts& operator=(const ShareOfProducts&) = delete;
  ~ShareOfProducts();
};

}  // namespace ablate::kernels
