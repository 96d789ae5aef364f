// Which form of an operation runs: the one place that chooses. It knows the CPU's alone: nothing chooses those of a CUDA device
// yet (docs/decisions/cuda.md).
#pragma once

#include <string_view>
#include <vector>

#include "ablate/tensor.h"
#include "core/kernels/cpu/form.h"

namespace ablate::kernels {

/// What a study asks for (train.kernels).
enum class Choice {
  kFused,     ///< the fused form where this machine, the type and the sizes have one, else the reference
  kReference  ///< plain operators
};

/// The instructions that fused forms are compiled for and that this machine has: "avx512", "avx2", or "" where it has neither,
/// or LibTorch no products of tiles for it. ATEN_CPU_CAPABILITY lowers it, as it does torch's own; ONEDNN_MAX_CPU_ISA, which is
/// for oneDNN's products, does not. Found at the first call; any thread.
std::string_view instructions();

/// Whether tiles with instructions() outrun LibTorch's own large products here: MKL takes AVX2 on AMD's processors, and AVX-512
/// on Intel's. Found at the first call; any thread.
bool tiles_outrun_products();

/// The forms for these instructions; the plain one where there are none, of which draws alone are used.
const cpu::Form& form();

/// Whether fused forms may take these tensors: defined, float32, on the CPU, with instructions() for them.
bool may_fuse(Choice choice, const std::vector<Tensor>& tensors);

}  // namespace ablate::kernels
