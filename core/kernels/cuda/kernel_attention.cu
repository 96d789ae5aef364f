// Kernel attention in float32.
#include "core/kernels/cuda/kernel_attention_backward_form.h"

namespace ablate::kernels::cuda {

constexpr int kSharedBytes = 17664;  // the most that a block uses
static_assert(kSharedBytes <= 48 << 10, "every device gives a block 48 KiB");

std::int64_t kernel_attention_scratch(const Shape& shape, std::int64_t keys, int d, int d_value) {
  const auto sequences = shape.batch * shape.heads, numbers = std::int64_t{d} * (d_value + 1);
  const auto most = keys > shape.tokens ? keys : shape.tokens;
  return sequences * (shape.tokens + numbers * (1 + pieces(most, kPiece)));
}

template <>
const char* kernel_attention(const KernelAttention<float>& of, const Heads<float>& out, const KernelAttentionSaved& saved,
                             float* scratch, void* stream) {
  return forward(of, out, saved, scratch, stream);
}

template <>
const char* kernel_attention_backward(const KernelAttention<float>& of, const Heads<const float>& d_out,
                                      const KernelAttentionSaved& saved, const KernelAttentionGradients<float>& gradients,
                                      float* scratch, void* stream) {
  return backward(of, d_out, saved, gradients, scratch, stream);
}

}  // namespace ablate::kernels::cuda
