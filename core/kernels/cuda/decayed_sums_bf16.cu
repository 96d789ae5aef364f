// Decayed sums in bfloat16.
#include "core/kernels/cuda/decayed_sums_calls.h"

namespace ablate::kernels::cuda {

constexpr int kSharedBytes = 47840;  // the most that a block uses
static_assert(kSharedBytes <= 48 << 10, "every device gives a block 48 KiB");

template <>
const char* decayed_sums(const DecayedSums<Bf16>& of, const Heads<Bf16>& out, float* state, const DecayedSumsSaved& saved,
                         void* stream) {
  return forward(of, out, state, saved, stream);
}

template <>
const char* decayed_sums_backward(const DecayedSums<Bf16>& of, const Heads<const Bf16>& d_out, const float* d_state,
                                  const DecayedSumsSaved& saved, const DecayedSumsGradients<Bf16>& gradients, float* scratch,
                                  void* stream) {
  return backward(of, d_out, d_state, saved, gradients, scratch, stream);
}

}  // namespace ablate::kernels::cuda
