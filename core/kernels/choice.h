// Chooses between the reference and the fused form of an operation. No code uses the CUDA forms yet (docs/decisions/cuda.md).
#pragma once

#include <string_view>
#include <vector>

#include "ablate/tensor.h"
#include "core/kernels/cpu/form.h"

namespace ablate::kernels {

/// Choice of a study (train.kernels).
enum class Choice {
  kFused,     ///< the fused form if this machine, the type and the sizes allow it, otherwise the reference
  kReference  ///< plain operators
};

/// Returns the best instructions of this machine for which fused forms are compiled: "avx512", "avx2", or "" if the machine has
/// neither, or if LibTorch has no products of tiles for it. ATEN_CPU_CAPABILITY lowers the result, as it does in torch.
/// ONEDNN_MAX_CPU_ISA does not lower it: that variable is for oneDNN's products. Found at the first call; any thread.
std::string_view instructions();

/// True if tiles with instructions() are faster here than LibTorch's own large products: MKL uses AVX2 on AMD processors, and
/// AVX-512 on Intel processors. Found at the first call; any thread.
bool tiles_outrun_products();

/// Returns the forms for instructions(). If that is empty, returns the plain form, which is used only for its random draws.
const cpu::Form& form();

/// True if fused forms may be used for these tensors: defined, float32, on the CPU, and instructions() is not empty.
bool may_fuse(Choice choice, const std::vector<Tensor>& tensors);

}  // namespace ablate::kernels
