// Kernel attention in bfloat16.
#include "core/kernels/cuda/kernel_attention_backward_form.h"

namespace ablate::kernels::cuda {

constexpr int kSharedBytes = 17664;  // the most that a block uses
static_assert(kSharedBytes <= 48 << 10, "every device gives a block 48 KiB");

template <>
const char* kernel_attention(const KernelAttention<Bf16>& of, const Heads<Bf16>& out, const KernelAttentionSaved& saved,
                             float* scratch, void* stream) {
  return forward(of, out, saved, scratch, stream);
}

template <>
const char* kernel_attention_backward(const KernelAttention<Bf16>& of, const Heads<const Bf16>& d_out,
                                      const KernelAttentionSaved& saved, const KernelAttentionGradients<Bf16>& gradients,
                                      float* scratch, void* stream) {
  return backward(of, d_out, saved, gradients, scratch, stream);
}

}  // namespace ablate::kernels::cuda
