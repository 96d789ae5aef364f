// Decayed sums in float32.
#include "core/kernels/cuda/decayed_sums_calls.h"

namespace ablate::kernels::cuda {

constexpr int kSharedBytes = 47840;  // the most that a block uses
static_assert(kSharedBytes <= 48 << 10, "every device gives a block 48 KiB");

std::int64_t decayed_sums_scratch(const Shape& shape, int d, int d_value) {
  const auto chunks = decayed_sums_chunks(shape.tokens);
  return shape.batch * shape.heads * d * (chunks * (d_value + 1) + 2 * shape.tokens);
}

template <>
const char* decayed_sums(const DecayedSums<float>& of, const Heads<float>& out, float* state, const DecayedSumsSaved& saved,
                         void* stream) {
  return forward(of, out, state, saved, stream);
}

template <>
const char* decayed_sums_backward(const DecayedSums<float>& of, const Heads<const float>& d_out, const float* d_state,
                                  const DecayedSumsSaved& saved, const DecayedSumsGradients<float>& gradients, float* scratch,
                                  void* stream) {
  return backward(of, d_out, d_state, saved, gradients, scratch, stream);
}

}  // namespace ablate::kernels::cuda
